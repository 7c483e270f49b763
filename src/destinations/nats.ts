import { z } from 'zod'
import type { DeliveryOutcome, Destination, DestinationContext, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { toGenerationEvent } from './shared/generation-event.ts'
import { NatsError, publishAll, type NatsMessage, type NatsServer } from './shared/nats-publish.ts'
import { asObjects, readObject } from './shared/read-answer.ts'
import { destinationSettings, HEADER_SECRETS, lineText, mergeHeaders } from './shared/settings.ts'

const DEFAULT_PORT = 4222
const TIMEOUT_MS = 20_000
const JETSTREAM_HEADER = 'x-jetstream'
/** The owner of a destination is not the owner of the stream: `Nats-Rollup` would empty it, and the others control numbering and expectations. */
const CONTROL_HEADER = /^nats-/i

const settings = destinationSettings({
  subject: z
    .string()
    .max(200)
    // No wildcards, and none of the servers' own subjects: `$JS.API` would manage streams.
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/, 'must be words joined by dots')
    .default('gateway.generations')
    .describe('Subject of the messages.'),
  jetstream: z
    .boolean()
    .default(true)
    .describe('Whether to wait until a stream has stored each message. If off, messages without a listener are lost.'),
  token: lineText().min(1).optional().describe('Token of the server.'),
  username: lineText().min(1).optional().describe('User of the server.'),
  password: lineText().min(1).optional().describe('Password of the user.'),
}).refine(({ headers = {} }) => !Object.keys(headers).some((name) => CONTROL_HEADER.test(name)), {
  path: ['headers'],
  message: 'names beginning with Nats- tell the server what to do with a message',
})
type NatsSettings = z.output<typeof settings>

/**
 * NATS, one message per generation. Its message id consists of the generation's and the destination's ids, so that a stream drops only repeats: a stream
 * compares ids over all its subjects, and several destinations may write to it. Only the operator chooses the server (`destinations.base_urls`): the
 * protocol is not HTTP, and its addresses do not pass the checks of owners' addresses.
 */
export const nats: Destination<NatsSettings> = {
  type: 'nats',
  name: 'NATS',
  settings,
  secrets: ['token', 'password', HEADER_SECRETS],
  limits: { records: 200, bytes: 900_000, timeoutMs: TIMEOUT_MS },
  baseUrlSchemes: ['nats', 'tls', 'http', 'https'],
  encode: (batch, options, context) => [
    publishRequest(
      options,
      context,
      batch.map((record) => ({ id: `${record.generation.id}:${context.destinationId}`, event: toGenerationEvent(record) })),
    ),
  ],
  classify,
  probe: (options, context) => [{ name: 'log in', request: publishRequest({ ...options, jetstream: false }, context, []) }],
  transport: publish,
}

interface Entry {
  readonly id: string
  readonly event: object
}

function publishRequest(options: NatsSettings, { baseUrl }: DestinationContext, entries: readonly Entry[]): OutgoingRequest {
  const { subject, jetstream, token, username, password, headers } = options
  const authorization = token !== undefined ? `Bearer ${token}` : username !== undefined ? login(username, password ?? '') : undefined
  return {
    method: 'POST',
    // Without a server, the answer reports this; an error here would make every generation a dead letter.
    url: `${(baseUrl ?? 'nats:').replace(/\/+$/, '')}/${subject}`,
    headers: mergeHeaders(headers, { [JETSTREAM_HEADER]: String(jetstream), ...(authorization === undefined ? {} : { authorization }) }),
    body: JSON.stringify({ messages: entries }),
  }
}

async function publish(request: OutgoingRequest, context: DestinationContext, signal: AbortSignal): Promise<OutgoingResponse> {
  if (context.baseUrl === undefined) return answer(403, { error: 'the operator has named no server for this type (destinations.base_urls)' })
  const url = new URL(request.url)
  const { authorization, [JETSTREAM_HEADER]: jetstream, ...headers } = request.headers
  const { messages } = JSON.parse(String(request.body)) as { readonly messages: readonly Entry[] }
  const subject = url.pathname.split('/').at(-1) ?? ''
  try {
    const acks = await publishAll(
      toServer(url, authorization),
      messages.map(({ id, event }): NatsMessage => ({ subject, headers: { ...headers, 'Nats-Msg-Id': id }, payload: JSON.stringify(event) })),
      { acknowledged: jetstream === 'true', timeoutMs: request.timeoutMs ?? TIMEOUT_MS, signal },
    )
    return answer(200, { failed: acks.flatMap((ack, index) => (ack.ok ? [] : [{ index, code: ack.code, message: ack.message }])) })
  } catch (error) {
    if (error instanceof NatsError) return answer(error.code, { error: error.message })
    throw error
  }
}

/** `nats:` and `http:` are unencrypted unless the server insists; `tls:` and `https:` are encrypted. */
function toServer(url: URL, authorization: string | undefined): NatsServer {
  const server = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    tls: url.protocol === 'tls:' || url.protocol === 'https:',
  }
  const blank = authorization?.indexOf(' ') ?? -1
  const credential = authorization?.slice(blank + 1) ?? ''
  const scheme = authorization?.slice(0, Math.max(0, blank))
  if (scheme === 'Bearer') return { ...server, token: credential }
  if (scheme !== 'Basic') return server
  const [user = '', password = ''] = Buffer.from(credential, 'base64').toString().split(BETWEEN, 2)
  return { ...server, user, password }
}

/** A separator that neither part can contain. A colon may occur in a user name here. */
const BETWEEN = '\n'

/** The form between settings and connection; no server sees it. */
const login = (user: string, password: string): string => `Basic ${Buffer.from(`${user}${BETWEEN}${password}`).toString('base64')}`

const answer = (status: number, body: object): OutgoingResponse => ({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) })

/** A subject without a stream is a configuration error. A stream refuses a malformed message every time, and a large one until it is smaller. */
function classify(response: OutgoingResponse): DeliveryOutcome {
  const outcome = classifyHttp(response)
  if (outcome.kind !== 'delivered') return outcome
  const failed = asObjects(readObject(response)?.['failed']).flatMap((each) =>
    typeof each?.['index'] === 'number' && typeof each['code'] === 'number'
      ? [{ index: each['index'], code: each['code'], message: String(each['message']) }]
      : [],
  )
  const [first] = failed
  if (first === undefined) return outcome
  if (failed.every(({ code }) => code === 404)) return { kind: 'unauthorized', message: excerpt(Buffer.from(first.message)) }
  const large = failed.find(({ code }) => code === 413)
  // Messages that were already stored are not stored again, because they keep their ids.
  if (large !== undefined) return { kind: 'split', message: excerpt(Buffer.from(large.message)) }
  const rejected = failed.filter(({ code }) => code === 400).map(({ index, message }) => ({ index, message }))
  const retry = failed.filter(({ code }) => code !== 400).map(({ index }) => index)
  return {
    kind: 'partial',
    message: `${rejected.length} messages were refused, ${retry.length} are to be sent again: ${first.message}`,
    rejected,
    retry,
  }
}

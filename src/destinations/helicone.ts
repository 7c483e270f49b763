import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { classifyHttp, redact } from '../core/outcome.ts'
import { uuidFromId } from '../lib/derived-id.ts'
import { toChatChoices, toChatMessages, toChatTools } from './shared/chat-shape.ts'
import { hasCost, hasUsage, modelSlug } from './shared/gen-ai-attributes.ts'
import { readObject } from './shared/read-answer.ts'
import { endOf, metadataObject, modelParameters, ownMetadata } from './shared/record-metadata.ts'
import { destinationSettings, headerSecret, headerValue, HEADER_SECRETS, httpUrl, joinUrl, mergeHeaders } from './shared/settings.ts'

const MAX_HEADER_CHARS = 400
/** Limit for all properties together: servers refuse requests with more than 16 KB of headers, some even less. */
const MAX_PROPERTY_BYTES = 6_000

const settings = destinationSettings({
  apiKey: headerSecret('API key with write access.'),
  baseUrl: httpUrl('Address of the logging API.').default('https://api.worker.helicone.ai'),
})
type HeliconeSettings = z.output<typeof settings>

/** Helicone's log of custom model calls: one request per generation. Everything besides request and answer is sent in headers. */
export const helicone: Destination<HeliconeSettings> = {
  type: 'helicone',
  name: 'Helicone',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 50, bytes: 4_000_000 },
  encode: (batch, options) => batch.map((record, index) => ({ ...logRequest(options, logHeaders(record), toLog(record)), records: [index] })),
  classify,
  answersInBody: true,
  // The key only permits writing, so the test is a log entry that says so.
  probe: (options, context) => [
    {
      name: 'write a log entry',
      request: logRequest(
        options,
        { 'helicone-request-id': uuidFromId(`${context.destinationId}:test:${context.now}`), 'helicone-property-test': 'true' },
        {
          providerRequest: { url: 'custom-model-nopath', json: { _type: 'data', name: 'gateway connection test' }, meta: {} },
          providerResponse: { json: { _type: 'data', name: 'gateway connection test', status: 'success' }, status: 200, headers: {} },
          timing: { startTime: toTime(context.now), endTime: toTime(context.now) },
        },
      ),
    },
  ],
}

function logRequest({ apiKey, baseUrl, headers }: HeliconeSettings, own: OutgoingRequest['headers'], body: object): OutgoingRequest {
  return {
    method: 'POST',
    url: joinUrl(baseUrl, '/custom/v1/log'),
    headers: mergeHeaders(headers, { ...own, 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }),
    body: JSON.stringify(body),
  }
}

/** The request id makes repeats recognisable. */
function logHeaders(record: DeliveryRecord): { readonly [name: string]: string } {
  const { generation, names } = record
  const session: { readonly [name: string]: string } =
    generation.sessionId === undefined
      ? {}
      : {
          'helicone-session-id': toHeader(generation.sessionId),
          'helicone-session-name': toHeader(names.trace),
          'helicone-session-path': `/${toHeader(names.wrapper ?? names.generation).replaceAll('/', '-')}`,
        }
  return {
    ...properties(record),
    ...session,
    'helicone-request-id': uuidFromId(generation.id),
    ...(generation.externalUser === undefined ? {} : { 'helicone-user-id': toHeader(generation.externalUser) }),
  }
}

/** Facts first, then as much of the caller's metadata as there is room for; the request contains all of it as well. */
function properties(record: DeliveryRecord): { readonly [name: string]: string } {
  const { cost, provider } = record.generation
  const all: readonly (readonly [string, unknown])[] = [
    ['trace-id', record.ids.trace],
    ...(provider === undefined ? [] : [['provider', provider] as const]),
    ...(hasCost(record) ? [['cost-usd', cost.total] as const] : []),
    ...(record.tags.length === 0 ? [] : [['tags', record.tags.join(',')] as const]),
    ...Object.entries(ownMetadata(record)),
  ]
  const found: { [name: string]: string } = {}
  let bytes = 0
  for (const [key, value] of all) {
    const name = `helicone-property-${key
      .toLowerCase()
      .replace(/[^a-z0-9-]/g, '-')
      .slice(0, 60)}`
    const text = toHeader(typeof value === 'string' ? value : JSON.stringify(value))
    bytes += name.length + text.length + 4
    if (bytes > MAX_PROPERTY_BYTES) break
    found[name] ??= text
  }
  return found
}

/** One line of limited length, as headers require. */
const toHeader = (text: string): string =>
  headerValue(
    text
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, MAX_HEADER_CHARS)
      .toWellFormed(),
  )

const toTime = (ms: number): { readonly seconds: number; readonly milliseconds: number } => ({
  seconds: Math.floor(ms / 1000),
  milliseconds: Math.floor(ms % 1000),
})

function toLog(record: DeliveryRecord): object {
  const { generation, content, failure } = record
  const tools = toChatTools(content?.tools)
  return {
    providerRequest: {
      url: 'custom-model-nopath',
      json: {
        ...modelParameters(record),
        model: modelSlug(record),
        ...(content === undefined ? {} : { messages: toChatMessages(content) }),
        ...(tools.length === 0 ? {} : { tools }),
        metadata: metadataObject(record),
      },
      // The platform reads these as headers of the model request; an invalid name or value would fail the whole log entry.
      meta: {},
    },
    providerResponse: {
      json: {
        id: generation.id,
        object: 'chat.completion',
        created: Math.floor(generation.startedAt / 1000),
        model: modelSlug(record),
        ...(content === undefined ? {} : { choices: toChatChoices(content, generation.finishReason) }),
        ...(hasUsage(record) ? { usage: usage(record) } : {}),
        ...(failure === undefined ? {} : { error: failure }),
      },
      status: failure !== undefined && generation.httpStatus < 400 ? 500 : generation.httpStatus,
      headers: {},
    },
    timing: {
      startTime: toTime(generation.startedAt),
      endTime: toTime(endOf(generation)),
      ...(generation.firstTokenMs === undefined ? {} : { timeToFirstToken: generation.firstTokenMs }),
    },
  }
}

const usage = ({ generation: { usage: tokens } }: DeliveryRecord): object => ({
  prompt_tokens: tokens.inputTokens,
  completion_tokens: tokens.outputTokens,
  total_tokens: tokens.totalTokens,
  prompt_tokens_details: { cached_tokens: tokens.cachedTokens },
  completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
})

/** If something could not be stored, the answer has a success status and a JSON body; otherwise the answer is not JSON. */
function classify(response: OutgoingResponse): DeliveryOutcome {
  const outcome = classifyHttp(response)
  if (outcome.kind !== 'delivered') return outcome
  const error = readObject(response)?.['error']
  return error === undefined || error === null ? outcome : { kind: 'retry', message: redact(`not stored: ${JSON.stringify(error)}`, 300) }
}

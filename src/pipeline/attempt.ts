import type { AttemptRecord, Call } from '../core/call.ts'
import type { Decoder, EncodedRequest, Target } from '../core/dialect.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { asGatewayError, GatewayError, isGatewayError } from '../core/error.ts'
import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { Credential, SignableRequest } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { tierServed } from '../core/service-tier.ts'
import { secretsOfTools } from '../core/tool-secrets.ts'
import type { Clock } from '../lib/clock.ts'
import { attemptSpanId, callTraceId, otlpSpanId, otlpTraceId } from '../lib/derived-id.ts'
import { isHeaderValue } from '../lib/header-value.ts'
import type { Exchange, HttpClient } from '../lib/http-client.ts'
import { wellFormedJson } from '../lib/json.ts'
import { writeTraceParent, type TraceParent } from '../lib/trace-context.ts'
import type { AttemptLimits } from '../router/limits.ts'
import { tierFactorAt } from '../router/price-multiple.ts'
import { attemptFailure } from './attempt-failure.ts'
import { AttemptTimer } from './attempt-timer.ts'
import { translateSearch } from './client-search.ts'
import { echoBody } from './echo-body.ts'
import { exchangeInProcess } from './in-process-exchange.ts'
import { readableInput } from './input-tools.ts'
import type { MediaLoader } from './media.ts'
import { asShortAsPossible } from './prewarm.ts'
import { beginReading, readStart } from './read-answer.ts'
import { atTierPrice } from './tier-price.ts'
import { withoutHalfCounts } from './half-counts.ts'
import { withoutCredential } from './without-credential.ts'

export interface AttemptDependencies {
  readonly http: HttpClient
  readonly clock: Clock
  readonly userAgent: string
  /** For dialects that need the bytes of media the caller gave by address. */
  readonly media: MediaLoader
  /** Bytes of one streamed answer; see `AnswerSource`. */
  readonly maxStreamBytes?: number
}

export interface AttemptInput {
  readonly call: Call
  /** The call's request, or the version of it that an earlier attempt led to. */
  readonly request: ModelRequest
  readonly endpoint: Endpoint
  readonly credential: Credential | undefined
  readonly limits: AttemptLimits
  /** Most output tokens that can be paid for, reasoning included; undefined: as many as the endpoint gives. */
  readonly maxOutputTokens?: number | undefined
  /** Do not ask for a stream. */
  readonly whole?: boolean
  /** Filled in as the attempt proceeds. */
  readonly record: AttemptRecord
}

const MAX_ERROR_BODY = 64 * 1024
/** How long an error may take to arrive after its head. Usually it is in the same packet; some servers never end it. */
const ERROR_BODY_MS = 1_000
/** How long a finished upstream may take to close its answer before the connection is given up. */
const DRAIN_MS = 1_000

/**
 * One try at one endpoint: encode, sign, send, cut frames, decode. Yields one array of events per upstream read and ends after
 * `response-end`; throws GatewayError for everything else, an aborted caller included. Whatever happens, the upstream is released.
 */
export async function* runAttempt(deps: AttemptDependencies, input: AttemptInput): AsyncGenerator<readonly ModelEvent[], void> {
  const { call, endpoint, record } = input
  const { dialect } = endpoint.connection
  let target = createTarget(input)
  const search = translateSearch(readableInput(asShortAsPossible(input.request, dialect, target), dialect, target), dialect, target)
  const { request } = search
  const urls = dialect.mediaUrls?.(request, target)
  if (urls !== undefined && urls.length > 0) target = { ...target, media: await loadMedia(deps, input, urls) }
  const written = dialect.encodeRequest(request, target)
  const encoded = { ...written, body: wellFormedJson(written.body) }
  record.dropped = encoded.dropped
  record.tierFactor = tierFactorAt(endpoint, tierServed(undefined, endpoint.tier, request, encoded.dropped))
  if (call.echoes === true) record.echo = echoBody(encoded.body, input.credential)
  const decoder = dialect.decoder(request, target)
  const startedAt = deps.clock.monotonic()
  let exchange: Exchange | undefined
  const cancel = (): void => exchange?.cancel()
  const timer = new AttemptTimer(input.limits, deps.clock, cancel)
  call.signal.addEventListener('abort', cancel)
  try {
    exchange = await open(deps, input, encoded, timer)
    if (call.signal.aborted) cancel()
    const head = await exchange.head
    record.status = head.status
    if (head.status >= 300) {
      // The status says what is wrong; reading the words has a limit of its own.
      timer.stop()
      throw await readError(exchange, head.status, head.headers, target, endpoint)
    }
    decoder.head?.(head.headers)
    const contentType = String(head.headers['content-type'] ?? '')
    const { maxStreamBytes } = deps
    const reader = await beginReading({ exchange, contentType, framing: dialect.framing, decoder, timer, hold: call.hold, maxStreamBytes })
    for (let events = await reader.next(); events !== undefined; events = await reader.next()) {
      if (record.firstTokenMs === undefined && events.some(isContentEvent)) {
        record.firstTokenMs = deps.clock.monotonic() - startedAt
        timer.content()
      }
      const shown = atTierPrice(withoutHalfCounts(search.take(events), request, record), request, record)
      if (shown.length === 0) continue
      timer.hold()
      yield shown
      timer.release()
    }
  } catch (error) {
    const secrets = [...(endpoint.connection.secrets ?? []), ...secretsOfTools(request.tools, request.input)]
    const failure = withoutCredential(attemptFailure(error, input, timer.expired), input.credential, secrets)
    record.error = { type: failure.errorType, message: failure.message }
    if (call.signal.aborted && !isGatewayError(call.signal.reason)) record.abandoned = true
    throw failure
  } finally {
    noteCounted(record, decoder)
    record.durationMs = deps.clock.monotonic() - startedAt
    record.heldMs = timer.heldMs
    timer.stop()
    call.signal.removeEventListener('abort', cancel)
    if (exchange !== undefined) release(exchange, decoder.finished && !call.signal.aborted)
  }
}

/** A connection whose answer is complete is read to its end, so that it can be used again. */
function release(exchange: Exchange, isComplete: boolean): void {
  if (exchange.ended) return
  if (isComplete) drain(exchange)
  else exchange.cancel()
}

/** The last event of a good answer carries its usage; otherwise what was counted so far is noted. */
function noteCounted(record: AttemptRecord, { counted, finished }: Decoder): void {
  if (counted !== undefined && (!finished || record.error !== undefined)) record.counted = counted
}

export function createTarget({ endpoint, credential, record, whole, maxOutputTokens: bound = Infinity }: AttemptInput): Target {
  const { connection } = endpoint
  const maxOutputTokens = Math.min(endpoint.maxOutputTokens ?? Infinity, bound)
  return {
    provider: endpoint.provider,
    providerName: endpoint.providerName,
    upstreamModel: endpoint.upstreamModel,
    options: connection.options,
    supports: endpoint.supports,
    pictures: endpoint.inputModalities.has('image') || endpoint.outputModalities.has('image'),
    contextLength: endpoint.contextLength,
    ...(maxOutputTokens === Infinity ? {} : { maxOutputTokens }),
    ...(endpoint.tier === undefined ? {} : { tier: endpoint.tier }),
    // A caller's own key belongs to another account than the operator's keys.
    scope: record.isByok === true && credential !== undefined ? `${connection.scope}.${credential.id}` : connection.scope,
    stream: whole !== true,
  }
}

export async function loadMedia(
  deps: AttemptDependencies,
  { call, record }: AttemptInput,
  urls: readonly string[],
): Promise<NonNullable<Target['media']>> {
  try {
    return await deps.media.load(call, urls)
  } catch (error) {
    const failure = asGatewayError(error)
    record.error = { type: failure.errorType, message: failure.message }
    throw failure
  }
}

async function open(deps: AttemptDependencies, input: AttemptInput, encoded: EncodedRequest, timer: AttemptTimer): Promise<Exchange> {
  const { connection } = input.endpoint
  const plain: SignableRequest = {
    method: encoded.method,
    path: encoded.path,
    url: connection.baseUrl + encoded.path,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      'user-agent': deps.userAgent,
      ...encoded.headers,
      ...connection.headers,
      ...(connection.traceContext === true ? { traceparent: writeTraceParent(spanOf(input)) } : {}),
    },
    body: encoded.body,
  }
  const { credential } = input
  let request = plain
  if (connection.sign !== undefined) request = await connection.sign(plain, credential, input.call.signal)
  else if (credential !== undefined) request = { ...plain, headers: { ...plain.headers, authorization: `Bearer ${credential.secret.reveal()}` } }
  checkSendable(request, credential)
  // Signing, and what came before it, may wait. A request sent after its limits have run out would never be ended, and nobody would read it for a
  // caller who has left.
  if (timer.expired !== undefined || input.call.signal.aborted) throw new Error('it was over before the request was sent')
  if (connection.transport !== undefined) return exchangeInProcess(connection.transport, request)
  return deps.http.send({
    url: request.url,
    method: request.method,
    headers: request.headers,
    body: request.body,
    connectTimeoutMs: input.limits.connect,
  })
}

/** The span of this attempt as destinations will be told it; for one part of a batched attempt, the span of the call. */
function spanOf({ call, record }: AttemptInput): TraceParent {
  const number = call.trace.attempts.indexOf(record) + 1
  const { trace_id: traceId } = call.request.trace ?? {}
  return { traceId: otlpTraceId(callTraceId(traceId, call.id)), spanId: otlpSpanId(number === 0 ? call.id : attemptSpanId(call.id, number)) }
}

/** A credential with several lines is a key file in the place of a key. That is the credential's fault and not the provider's, who would have got it. */
function checkSendable({ headers }: SignableRequest, credential: Credential | undefined): void {
  if (credential === undefined || isHeaderValue(credential.secret.reveal())) return
  if (Object.values(headers).every(isHeaderValue)) return
  throw new GatewayError('authentication', 'The credential cannot be sent: it is a file, or has several lines, where a key is expected', {
    source: 'provider',
    credentialDead: true,
  })
}

async function readError(
  exchange: Exchange,
  status: number,
  headers: { readonly [name: string]: string | string[] | undefined },
  target: Target,
  endpoint: Endpoint,
): Promise<GatewayError> {
  if (status < 400) {
    return new GatewayError('provider_unavailable', `The provider answered with a redirect (${status}), which the gateway does not follow`, {
      source: 'provider',
      upstreamStatus: status,
      failover: 'next',
    })
  }
  // Some servers repeat the whole request after the error.
  const body = await readStart(exchange, MAX_ERROR_BODY, ERROR_BODY_MS)
  return endpoint.connection.dialect.decodeError(status, headers, body, target)
}

/** Reads the last bytes of a finished answer so that its connection can be used again. */
function drain(exchange: Exchange): void {
  const giveUp = setTimeout(() => exchange.cancel(), DRAIN_MS)
  const finish = async (): Promise<void> => {
    try {
      while ((await exchange.read()) !== undefined);
    } catch {
      // The answer is complete; a connection that breaks now affects nobody.
    } finally {
      clearTimeout(giveUp)
    }
  }
  void finish()
}

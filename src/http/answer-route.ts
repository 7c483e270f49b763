import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Call, Handler, Owner } from '../core/call.ts'
import { asGatewayError, GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { OutputItem } from '../core/item.ts'
import type { Preset, Presets } from '../core/preset.ts'
import type { ModelRequest } from '../core/request.ts'
import { decodeResponsesRequest, withHeaders } from '../doors/responses/decode-request.ts'
import { applyPreset } from '../doors/shared/apply-preset.ts'
import type { Door, Read } from '../doors/shared/door.ts'
import type { Fold } from '../doors/shared/fold.ts'
import { withOwnPath } from '../doors/shared/own-path.ts'
import { parseExact } from '../lib/exact-json.ts'
import type { LiveSet } from '../lib/live-map.ts'
import { lastEcho } from '../pipeline/echo-body.ts'
import { assemblyOf, metadataOf, type AssemblySources } from './assembly-options.ts'
import type { Authenticated } from './authenticate.ts'
import type { LargeAnswer } from './answer-memory.ts'
import type { BodyHold } from './body-memory.ts'
import { jsonOf, readBody } from './body.ts'
import { cacheAskedFor, cacheHeaders } from './cache-headers.ts'
import { createCall } from './create-call.ts'
import { renderError } from './error-handler.ts'
import type { Admission } from './admission.ts'
import { referencesOf, remember, type RecentItems } from './recent-items.ts'
import { liftKey } from './key-parameter.ts'
import { modelNamed } from './model-named.ts'
import { headersOf, metadataFields, originOf, requestIdOf, streamPreferences, wantsErrorWord, type CallerHeaders } from './request-headers.ts'
import { SseBody, type KeepAlive } from './sse-body.ts'
import { sendJson } from './write-text.ts'

export interface AnswerRouteOptions extends AssemblySources {
  /** The owner of an inference key, at once if the key is known. Throws or rejects with GatewayError `authentication` or `permission_denied`. */
  readonly authenticate: (request: IncomingMessage, keyHeader?: string) => Authenticated | Promise<Authenticated>
  readonly handler: Handler
  readonly presets: Presets
  /** The request with what the configuration and its workspace say where it says nothing. */
  readonly withDefaults: (request: ModelRequest, owner: Owner) => ModelRequest
  readonly bodyLimitBytes: number
  /** Headers by which callers ask for beta features of upstream formats. */
  readonly betaHeaders: readonly string[]
  readonly callerHeaders: () => CallerHeaders
  /** Whether failing streams also send an `error` event, for callers who do not say. */
  readonly errorEvent: () => boolean
  /** Whether callers may ask to see what upstreams are sent. */
  readonly echoUpstreamBody: () => boolean
  /** Items of recent answers, for callers that send them back by reference. */
  readonly recentItems: Pick<RecentItems, 'remember' | 'find'>
  readonly random: () => number
  readonly keepAlive: KeepAlive
  /** Called with failures that are bugs of ours; the caller sees only an id. */
  readonly onBug: (error: GatewayError, requestId: string) => void
  /** Calls in flight, so that a shutdown can wait for them. */
  readonly inFlight: LiveSet<AbortController>
  /** Admits calls by key, or refuses them while the process has too many. */
  readonly admission: Pick<Admission, 'enter' | 'leave' | 'holdBody' | 'holdAnswer'>
  /** False while the process drains and refuses new calls. */
  readonly accepting: () => boolean
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

/** The route of a front door: one call, from its first header to its last byte. */
export function createAnswerRoute(options: AnswerRouteOptions, door: Door): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => void serve(options, door, request, response)
}

/** One call while it is served; fields are absent until that step is reached. */
interface Serving {
  readonly door: Door
  readonly id: string
  readonly requestId: string
  readonly headers: { readonly [name: string]: string }
  readonly gone: AbortController
  /** The prefix of the answer cache's headers; absent if the caller did not ask for kept answers. */
  cachePrefix?: string
  /** The key that was admitted. */
  admitted?: string
  /** The memory of its body. */
  hold?: BodyHold
  /** The memory of its answer. */
  answerHold?: LargeAnswer
  pathOf?: Read['pathOf']
  streamed?: Read['streamed']
  call?: Call
  assembler?: Fold
  sse?: SseBody
  /** Its items are kept for references. */
  isRemembered?: true
}

async function serve(options: AnswerRouteOptions, door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = `gen-${Math.floor(options.clock.now() / 1000)}-${options.newId(20)}`
  const requestId = requestIdOf(request) ?? id
  const ids = { 'x-generation-id': id, 'x-request-id': requestId }
  const headers = door.idHeader === undefined ? ids : { ...ids, [door.idHeader]: requestId }
  const serving: Serving = { door, id, requestId, headers, gone: new AbortController() }
  const place = options.inFlight.add(serving.gone)
  response.on('close', () => {
    if (!response.writableFinished) serving.gone.abort()
  })
  try {
    await answer(options, request, response, serving)
  } catch (thrown) {
    // If this rejects, the caller has stopped reading.
    await refuse(options, request, response, serving, withOwnPath(asGatewayError(thrown), serving.pathOf))?.catch(() => undefined)
  } finally {
    serving.sse?.release()
    serving.hold?.release()
    serving.answerHold?.release()
    remember(options.recentItems, serving)
    if (serving.admitted !== undefined) options.admission.leave(serving.admitted)
    options.inFlight.delete(place, serving.gone)
  }
}

async function answer(options: AnswerRouteOptions, request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  if (!options.accepting()) {
    throw new GatewayError('provider_overloaded', 'The gateway is shutting down', { headers: { connection: 'close' }, retryAfterMs: 1000 })
  }
  liftKey(request, serving.door)
  const letIn = letting(options, request, serving.door)
  const authenticated = letIn()
  const { owner } = authenticated instanceof Promise ? await waitedFor(authenticated, serving) : authenticated
  options.admission.enter(owner.keyHash)
  serving.admitted = owner.keyHash
  const hold = (serving.hold = options.admission.holdBody())
  serving.answerHold = options.admission.holdAnswer(serving.gone.signal)
  const bytes = { limitBytes: options.bodyLimitBytes, hold, letIn }
  const { call, assembler, sse, atOnce } = open(options, request, response, serving, owner, await readBody(request, bytes))
  hold.read()
  let rest: Writing
  for await (const events of options.handler(call)) {
    if (events.length > 0) hold.sent()
    if (assembler.ended) continue // An answer has one end.
    write(call, assembler, events)
    if (atOnce && assembler.complete) rest = end(response, serving, assembler, sse)
    else {
      const written = sse === undefined ? undefined : passOn(assembler, sse)
      if (written !== undefined) await written
    }
  }
  if (!assembler.ended) rest = end(response, serving, assembler, sse)
  if (rest === undefined) return
  remember(options.recentItems, serving)
  await rest
}

/** A failure while telling ends the call. Its producers see only that nobody reads on, so the reason is noted for them first. */
function write({ trace }: Call, assembler: Fold, events: readonly ModelEvent[]): void {
  try {
    assembler.push(events)
  } catch (error) {
    trace.undelivered = asGatewayError(error)
    throw error
  }
}

/**
 * The caller gets the answer before the call is recorded; both happen in the same turn of the event loop. Undefined, or resolves when the caller has
 * taken all of a long answer.
 */
function end(response: ServerResponse, serving: Serving, assembler: Fold, sse: SseBody | undefined): Writing {
  assembler.finish()
  serving.answerHold?.encoded()
  const rest = sse === undefined ? sendJson(response, 200, answerHeaders(serving), assembler.answer()) : sse.end(assembler.takeWire())
  // The call is recorded meanwhile.
  rest?.catch(() => undefined)
  return rest
}

/** Sends what has been assembled. A separate function, because the scope that awaits the next piece would keep the last one alive. */
function passOn(assembler: Fold, sse: SseBody): Promise<void> | undefined {
  const text = assembler.takeWire()
  return text === '' ? undefined : sse.write(text)
}

type Writing = Promise<void> | undefined

interface Opened {
  readonly call: Call
  readonly assembler: Fold
  readonly sse: SseBody | undefined
  /** The answer may end with the model's. Otherwise the caller wants metadata of the call, which is complete only at the end. */
  readonly atOnce: boolean
}

/** The call a body asks for. The body and what was parsed from it are released here, not at the end of the call. */
function open(
  options: AnswerRouteOptions,
  request: IncomingMessage,
  response: ServerResponse,
  serving: Serving,
  owner: Owner,
  bytes: Buffer,
): Opened {
  // The body is complete: the time the caller took to send it counts neither as ours nor as the model's.
  const receivedAt = options.clock.now()
  const { door } = serving
  const { streamFailure, asEvents, errorEvent } = streamPreferences(request, options.errorEvent(), door.signs)
  const sent = jsonOf(bytes)
  const read = door.read(sent, exactly(bytes), request.url)
  serving.pathOf = read.pathOf
  serving.streamed = read.streamed
  const translated = requestOf(options, request, read, owner, bytes.length)
  const { preset } = translated
  const modelRequest = options.withDefaults(translated.modelRequest, owner)
  const { id, requestId, gone } = serving
  const origin = originOf(request, door.apiType)
  const cached = cacheAskedFor(request, preset?.config, bytes.length)
  if (cached !== undefined) serving.cachePrefix = cached.prefix
  const call = createCall(options, {
    id,
    receivedAt,
    requestId,
    owner,
    request: modelRequest,
    requestedModel: modelNamed(read) ?? modelRequest.model ?? '',
    signal: gone.signal,
    origin,
    ...(preset === undefined ? {} : { presetId: preset.id }),
    ...(streamFailure === undefined ? {} : { streamFailure }),
    ...(cached === undefined ? {} : { cache: cached.preferences }),
    ...(serving.answerHold === undefined ? {} : { hold: serving.answerHold }),
    ...(read.visibilityOf === undefined ? {} : { visibilityOf: read.visibilityOf }),
  })
  const fields = metadataFields(request)
  const assembler = read.fold(assemblyOf(options, call, fields, errorEvent))
  call.output = outputOf(assembler)
  serving.call = call
  serving.assembler = assembler
  const sign = read.streamed?.sign ?? (asEvents ? signOf(assembler) : undefined)
  const sse = call.stream ? new SseBody(response, options.keepAlive, streamHeaders(serving), sign) : undefined
  if (sse !== undefined) serving.sse = sse
  return { call, assembler, sse, atOnce: fields.length === 0 }
}

interface Asked {
  readonly modelRequest: ModelRequest
  readonly preset?: Pick<Preset, 'id' | 'config'> | undefined
}

/** The request, completed by the preset it names, and validated unless its door has done so. */
function requestOf(options: AnswerRouteOptions, request: IncomingMessage, read: Read, owner: Owner, size: number): Asked {
  const headers = headersOf(request, options.betaHeaders, options.callerHeaders())
  if ('request' in read) return { modelRequest: withHeaders(read.request, headers) }
  const { body, preset } = applyPreset(read.body, (slug) => options.presets.find(owner.workspaceId, slug))
  const resolveReference = referencesOf(options.recentItems, owner.workspaceId, size, options.bodyLimitBytes)
  return { modelRequest: decodeResponsesRequest(body, headers, { resolveReference }), preset }
}

/** Separate functions: closures made in `open` or `answer` would share its context, and keep the whole call alive as long as they live. */
const exactly = (bytes: Buffer) => (): unknown => parseExact(bytes.toString())
const letting = (options: AnswerRouteOptions, request: IncomingMessage, door: Door) => () => options.authenticate(request, door.keyHeader)
const outputOf = (assembler: Fold) => (): readonly OutputItem[] => assembler.output()
const streamHeaders = (serving: Serving) => (): Serving['headers'] => ({ ...STREAM_HEADERS, ...serving.streamed?.headers, ...answerHeaders(serving) })
const signOf = (assembler: Fold) => (): string => assembler.keepAlive()

/** Headers of an answer. Whether it is a kept one is known before its first byte. */
function answerHeaders({ headers, cachePrefix, call }: Serving): Serving['headers'] {
  const report = call?.trace.cached
  return cachePrefix === undefined || report === undefined ? headers : { ...headers, ...cacheHeaders(cachePrefix, report) }
}

/** After this wait the caller may be gone, and readers of the body would not notice. */
async function waitedFor(authenticated: Promise<Authenticated>, { gone }: Serving): Promise<Authenticated> {
  const found = await authenticated
  if (gone.signal.aborted) throw new GatewayError('invalid_request', 'The connection closed before the key was checked')
  return found
}

/** Before the first byte a failure is an HTTP error, after it a part of the stream; a caller who has gone hears nothing. Resolves when all is told. */
function refuse(options: AnswerRouteOptions, request: IncomingMessage, response: ServerResponse, serving: Serving, error: GatewayError): Writing {
  const { call, assembler, sse, requestId } = serving
  if (error.errorType === 'server' && !serving.gone.signal.aborted) options.onBug(error, requestId)
  if (response.destroyed || response.writableEnded) return undefined
  if (sse?.committed === true && assembler !== undefined) return failStream(options, response, serving, { sse, assembler, error })
  const route = call === undefined ? undefined : metadataOf(options, call, metadataFields(request))
  const echo = call?.echoes === true ? lastEcho(call) : undefined
  const rendered = renderError(error, requestId, route, echo, serving.door.envelope, wantsErrorWord(request))
  return sendJson(response, rendered.status, { ...serving.headers, ...rendered.headers }, rendered.body)
}

/** If even the failure cannot be told, the connection is broken rather than left waiting. */
function failStream(
  { onBug }: AnswerRouteOptions,
  response: ServerResponse,
  { requestId }: Serving,
  { sse, assembler, error }: { readonly sse: SseBody; readonly assembler: Fold; readonly error: GatewayError },
): Writing {
  try {
    assembler.fail(error)
    return sse.endWith(assembler.takeWire(), assembler.takeWire())
  } catch (thrown) {
    onBug(asGatewayError(thrown), requestId)
    return void response.destroy()
  }
}

import type { InputItem } from '../../core/item.ts'
import type { ModelRequest, TraceOptions } from '../../core/request.ts'
import { isSettingsUpdate, settingsInForce } from '../../core/settings-update.ts'
import { countCharacters } from '../../lib/count-characters.ts'
import { defined } from '../../lib/defined.ts'
import type { TraceParent } from '../../lib/trace-context.ts'
import { findEmptyMedia } from './empty-media.ts'
import { findImpossibleChoice } from './forced-tool.ts'
import { MAX_LABEL, responsesRequest } from './schema.ts'
import { withAddedMetadata } from './added-metadata.ts'
import { quote } from './schema-combinators.ts'
import { PLUGINS } from './schema-routing.ts'
import { saysNothing } from './says-nothing.ts'
import { checkBody, refuse } from '../shared/check-body.ts'

export interface ResponsesHeaders {
  /** `x-session-id`; the body's `session_id` wins. */
  readonly sessionId?: string
  /** Beta features requested by a header; a field of this name in the body is not read. */
  readonly betas?: readonly string[]
  /** `x-gateway-metadata`, unparsed; pairs of the body's `metadata` win. */
  readonly metadata?: string
  /** The trace and span that the call belongs to; a trace named in the body wins. */
  readonly parent?: TraceParent
}

export interface DecodeOptions {
  /** The item of an earlier answer in the same workspace; undefined if it is not (or no longer) known. Default: none is known. */
  readonly resolveReference?: (id: string) => InputItem | undefined
}

const KNOWN_PLUGINS: ReadonlySet<string> = new Set(PLUGINS.map(([id]) => id))

/**
 * The parsed body of POST /api/v1/responses as a ModelRequest. Nothing is cloned: fields and items are the body's own, and the body is not modified; only
 * the top level and messages without a `type` are new objects.
 *
 * - `input` becomes a list: a string is one user message; messages get `type: 'message'`, and an empty list for content that is null.
 * - `model` is the first choice and `models` the ones after it, without repetitions; `models` is absent if nothing follows.
 * - An `item_reference` becomes the item it names.
 * - `reasoning` and `text` are those in force at the end of the input; see `initial_settings`.
 * - Known fields that are null are left out; unknown fields are kept as they are.
 *
 * Throws GatewayError: `invalid_request` for what the schema refuses, `invalid_prompt` for no input, an unknown role or invalid media, `unprocessable` for
 * a forced tool that is not offered. Each names one path (`details.path`) and one reason, under 1 KB.
 */
export function decodeResponsesRequest(body: unknown, headers: ResponsesHeaders = {}, options: DecodeOptions = {}): ModelRequest {
  checkBody(responsesRequest, body, 'input')
  const request: { [field: string]: unknown } = dropNulls(body as { readonly [field: string]: unknown })
  checkPlugins(request['plugins'] as ModelRequest['plugins'])
  const input = decodeInput(request['input'], options.resolveReference)
  if (request['input'] === undefined && Array.isArray(request['messages'])) {
    throw refuse('invalid_prompt', 'input', 'is missing: this is the Responses format, in which "input" takes what chat completions call "messages"')
  }
  // Only the router knows whether any candidate keeps the stored prompt.
  if (!request['instructions'] && request['prompt'] === undefined && saysNothing(input)) {
    const empty = 'is empty: send a string or at least one item, or "instructions"'
    throw refuse('invalid_prompt', 'input', input.length === 0 ? empty : 'says nothing: at least one message must have content')
  }
  const empty = findEmptyMedia(input)
  if (empty !== undefined) throw refuse('invalid_prompt', empty.path, empty.reason)
  request['input'] = input
  orderModels(request)
  setHeaders(request, headers)
  putInForce(request)
  const decoded = request as ModelRequest
  const impossible = findImpossibleChoice(decoded)
  if (impossible !== undefined) throw refuse('unprocessable', impossible.path, impossible.reason)
  return decoded
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(responsesRequest.shape))

/** A copy of the top level. Deleting from a copy would slow down every later read of it, hence the two ways. */
function dropNulls(body: { readonly [field: string]: unknown }): { [field: string]: unknown } {
  const isEmpty = (field: string): boolean => body[field] === null && KNOWN_FIELDS.has(field)
  const fields = Object.keys(body)
  return fields.some(isEmpty) ? Object.fromEntries(Object.entries(body).filter(([field]) => !isEmpty(field))) : { ...body }
}

function checkPlugins(plugins: ModelRequest['plugins']): void {
  if (plugins === undefined) return
  for (const [index, { id }] of plugins.entries()) {
    if (KNOWN_PLUGINS.has(id)) continue
    throw refuse(
      'invalid_request',
      `plugins[${index}].id`,
      `is ${quote(id)}, which is not a known plugin; known are ${[...KNOWN_PLUGINS].join(', ')}`,
    )
  }
}

function decodeInput(input: unknown, resolve: DecodeOptions['resolveReference']): readonly InputItem[] {
  if (input === undefined || input === '') return []
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return (input as readonly InputItem[]).map((item, index) => decodeItem(item, index, resolve))
}

/** The schema allows a missing type only in messages (with a role) and in references (with an id alone). */
function decodeItem(item: InputItem, index: number, resolve: DecodeOptions['resolveReference']): InputItem {
  const { type, content, role } = item as { readonly type?: string | null; readonly content?: unknown; readonly role?: unknown }
  if (type === 'item_reference' || (type == null && role === undefined)) return resolveItem((item as { readonly id: string }).id, index, resolve)
  if (type != null && type !== 'message') return item
  if (type === 'message' && content != null) return item
  return { ...item, type: 'message', content: content ?? [] }
}

function resolveItem(id: string, index: number, resolve: DecodeOptions['resolveReference']): InputItem {
  const item = resolve?.(id)
  if (item !== undefined) return item
  throw refuse(
    'invalid_request',
    `input[${index}]`,
    `refers to the item ${quote(id)}, which the gateway does not hold (any more): send store: false, or the whole items of the conversation`,
  )
}

/** Items that change settings count from here on, for whoever looks at the request. Usually there are none. */
function putInForce(request: { [field: string]: unknown }): void {
  const { input, reasoning, text } = request as ModelRequest
  if (!input.some(isSettingsUpdate)) return
  Object.assign(request, defined({ ...settingsInForce({ input, reasoning, text }), initial_settings: defined({ reasoning, text }) }))
}

function orderModels(request: { [field: string]: unknown }): void {
  const { model, models } = request as Pick<ModelRequest, 'model' | 'models'>
  if (models === undefined) return
  const [first, ...rest] = new Set(model === undefined ? models : [model, ...models])
  if (first === undefined) delete request['model']
  else request['model'] = first
  if (rest.length === 0) delete request['models']
  else request['models'] = rest
}

/** A request of another door, with the values of headers: the session, for example, if the body names none. */
export function withHeaders(request: ModelRequest, headers: ResponsesHeaders): ModelRequest {
  const copy = { ...request }
  setHeaders(copy, headers)
  return copy
}

/** Fields that the gateway itself adds. */
const NOT_THE_CALLERS = ['request_forms', 'initial_settings'] as const

function setHeaders(request: { [field: string]: unknown }, { sessionId, betas = [], metadata, parent }: ResponsesHeaders): void {
  setSession(request, sessionId)
  if (metadata !== undefined) request['metadata'] = withAddedMetadata(request['metadata'], metadata)
  if (parent !== undefined) setTrace(request, parent)
  if (betas.length > 0) request['vendor_betas'] = betas
  else if ('vendor_betas' in request) delete request['vendor_betas']
  for (const field of NOT_THE_CALLERS) if (field in request) delete request[field]
}

function setSession(request: { [field: string]: unknown }, header: string | undefined): void {
  if (request['session_id'] === '') delete request['session_id']
  if (request['session_id'] !== undefined || header === undefined || header === '') return
  const length = countCharacters(header)
  if (length > MAX_LABEL) {
    throw refuse('invalid_request', 'x-session-id', `must have at most ${MAX_LABEL} characters, not ${length}`)
  }
  request['session_id'] = header
}

function setTrace(request: { [field: string]: unknown }, { traceId, spanId }: TraceParent): void {
  const trace = request['trace'] as TraceOptions | undefined
  if (trace?.trace_id) return
  request['trace'] = { ...trace, trace_id: traceId, parent_span_id: trace?.parent_span_id || spanId }
}

import { cutText } from '../../lib/cut-text.ts'
import { parseCutJson } from './cut-json.ts'
import { isObject, tryParseJson as parseJson } from './json.ts'

/** What an error body says, whatever its shape. */
export interface ErrorFacts {
  /** Empty if the body contains nothing readable. */
  readonly message: string
  /** All codes, types, status words and reasons, normalised: lower case, words joined by `_`. */
  readonly codes: ReadonlySet<string>
  /** The upstream's own code as it wrote it: the most specific one. */
  readonly code?: string
  readonly param?: string
  /** An HTTP status that the body itself names. */
  readonly status?: number
  /** The parsed JSON, if there is any. */
  readonly payload?: unknown
  readonly kind: 'json' | 'html' | 'text' | 'empty'
}

const MAX_MESSAGE = 4096

/** Whether the rejected field is the model, however a server spells that. */
export const isModelParam = (param: string): boolean => /^(?:path\.)?model(?:[_ ]?(?:id|name))?(?![a-z_])/i.test(param)

export function normalizeCode(code: string): string {
  // In `com.amazon.coral.service#ValidationException:http://...` and `type.googleapis.com/...` the last part names the kind.
  const unqualified = code.includes('#') ? code.slice(code.lastIndexOf('#') + 1) : code
  return unqualified
    .split(':')[0]!
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
}

interface Collected {
  message: string
  codes: Set<string>
  code: string | undefined
  param: string | undefined
  status: number | undefined
}

const empty = (): Collected => ({ message: '', codes: new Set(), code: undefined, param: undefined, status: undefined })

const CODE_FIELDS = ['code', 'type', 'error_type', 'status', '__type', 'reason', 'error_code', 'errorCode', 'kind', 'finish_reason']
const MESSAGE_FIELDS = ['message', 'Message', 'error_message', 'errorMessage', 'msg', 'detail', 'error_description', 'title', 'description']
const SPECIFIC_CODES: ReadonlySet<string> = new Set(['code', 'error_code', '__type'])
const DETAIL_FIELDS = ['details', 'innererror', 'metadata', 'inner_error', 'cause']
const STATUS_FIELDS = ['status_code', 'statusCode', 'http_code', 'http_status', 'originalStatusCode']
const TELLING_FIELDS = ['failed_generation', 'flagged_input']
/** Messages that only introduce another one, which is the one that matters. */
const GENERIC =
  /^(?:provider returned error|upstream (?:request )?(?:error|failed)|error|bad request|internal server error|request failed|unknown error|invalid request)\.?$/i

/** The beginning of an exception in which a proxy passes on an answer, perhaps as bytes. More text may follow. */
const PASSED_ON = /(?:Error|Exception)[ :-]{1,5}(?:b?')?$/

function noteCode(into: Collected, value: unknown, specific: boolean): void {
  if (typeof value === 'number') {
    if (value >= 400 && value < 600) into.status ??= value
    else if (specific) into.code ??= String(value)
  } else if (typeof value === 'string' && value !== '' && value.length <= 200) {
    const code = normalizeCode(value)
    if (/^[45]\d\d$/.test(code)) into.status ??= Number(code)
    else if (code !== '' && code !== 'error') {
      into.codes.add(code)
      if (specific) into.code ??= value
    }
  }
}

/** Some servers always send the field, and leave it empty, or write their language's word for nothing, if no field is meant. */
function noteParam(into: Collected, value: unknown): void {
  if (typeof value === 'string' && !/^(?:none|null|nil|undefined)?$/i.test(value)) into.param ??= value
}

/** Validation lists of Python servers: `[{loc: ['body', 'temperature'], msg, type}]`. */
function readList(into: Collected, list: readonly unknown[], depth: number): void {
  for (const entry of list.slice(0, 5)) {
    if (typeof entry === 'string') {
      if (into.message === '') into.message = entry
    } else if (isObject(entry)) {
      if (Array.isArray(entry['loc'])) noteParam(into, entry['loc'].filter((step) => step !== 'body').join('.'))
      readObject(into, entry, depth + 1)
    }
  }
}

function readObject(into: Collected, body: { readonly [key: string]: unknown }, depth: number): void {
  if (depth > 4) return
  readInner(into, body, depth)
  for (const field of CODE_FIELDS) noteCode(into, body[field], SPECIFIC_CODES.has(field))
  for (const field of STATUS_FIELDS) noteCode(into, body[field], false)
  // First, because it decides whether a message can be believed.
  noteParam(into, body['param'])
  for (const field of MESSAGE_FIELDS) readValue(into, body[field], depth)
  for (const field of DETAIL_FIELDS) {
    const value = body[field]
    for (const detail of Array.isArray(value) ? value.slice(0, 8) : [value]) if (isObject(detail)) readObject(into, detail, depth + 1)
  }
  // Routers append the vendor's original body as text.
  if (typeof body['raw'] === 'string') takeMessage(into, body['raw'], depth)
  // Fields that only one kind of error has identify it, whatever its code.
  for (const field of TELLING_FIELDS) if (field in body) into.codes.add(field)
}

/** The actual error inside an envelope, or inside the response of a stream's last event. */
function readInner(into: Collected, body: { readonly [key: string]: unknown }, depth: number): void {
  const inner = body['error'] ?? body['errors'] ?? body['Error']
  if (typeof inner !== 'string' || into.message === '') readValue(into, inner, depth)
  if (isObject(body['response'])) readObject(into, body['response'], depth + 1)
}

function readValue(into: Collected, value: unknown, depth: number): void {
  if (typeof value === 'string') takeMessage(into, value, depth)
  else if (Array.isArray(value)) readList(into, value, depth)
  else if (isObject(value)) readObject(into, value, depth + 1)
}

/** The first message wins, unless it only introduces another; JSON inside a message is opened. */
function takeMessage(into: Collected, text: string, depth: number): void {
  const trimmed = text.trim()
  if (trimmed === '') return
  const brace = trimmed.indexOf('{')
  const end = trimmed.lastIndexOf('}') + 1
  if (brace >= 0 && brace < 200 && depth < 4 && (end === trimmed.length || PASSED_ON.test(trimmed.slice(0, brace)))) {
    const nested = parseJson(trimmed.slice(brace, end))
    if (isObject(nested) && takeNested(into, nested, depth)) return
  }
  if (into.message === '' || GENERIC.test(into.message)) into.message = trimmed
}

/**
 * An error says what is wrong. JSON that does not, or that stands where a field is rejected, may be a quoted part of the request, so none of its
 * fields is believed.
 */
function takeNested(into: Collected, nested: { readonly [key: string]: unknown }, depth: number): boolean {
  if (into.param !== undefined && !isModelParam(into.param)) return false
  const own = empty()
  readObject(own, nested, depth + 1)
  if (own.message === '') return false
  if (into.message === '' || GENERIC.test(into.message)) into.message = own.message
  for (const code of own.codes) into.codes.add(code)
  into.code ??= own.code
  into.param ??= own.param
  into.status ??= own.status
  return true
}

function htmlText(body: string): string {
  const title = /<title[^>]{0,300}>([^<]{1,300})<\/title>/i.exec(body) ?? /<h1[^>]{0,300}>([^<]{1,300})<\/h1>/i.exec(body)
  const text = (title?.[1] ?? body.slice(0, 2000).replace(/<[^>]{0,300}>/g, ' ')).replace(/\s+/g, ' ').trim()
  return cutText(text, 300)
}

/** JSON, even if it was cut off, or framed as a server-sent event although the request was refused. */
function findJson(body: string): unknown {
  const parsed = parseJson(body) ?? parseCutJson(body)
  if (parsed !== undefined) return parsed
  for (const line of body.slice(0, 64_000).split('\n')) {
    const data = line.startsWith('data:') ? line.slice(5).trim() : ''
    if (data.startsWith('{') && data.endsWith('}')) return parseJson(data)
  }
  return undefined
}

/** Reads an error that was parsed already. Never throws. */
export function readErrorPayload(payload: unknown): ErrorFacts {
  const into = empty()
  if (typeof payload === 'string') takeMessage(into, payload, 0)
  else if (Array.isArray(payload)) readList(into, payload, 0)
  else if (isObject(payload)) readObject(into, payload, 0)
  return {
    message: cutText(into.message, MAX_MESSAGE),
    codes: into.codes,
    ...(into.code === undefined ? {} : { code: into.code }),
    ...(into.param === undefined ? {} : { param: into.param }),
    ...(into.status === undefined ? {} : { status: into.status }),
    payload,
    kind: 'json',
  }
}

/** Reads an error body of any shape: nested, flat, array, `detail`, JSON in text, HTML, plain text, nothing. Never throws. */
export function readErrorBody(body: string): ErrorFacts {
  const text = body.trim()
  const none = new Set<string>()
  if (text === '') return { message: '', codes: none, kind: 'empty' }
  const json = findJson(text)
  if (typeof json === 'object' && json !== null) return readErrorPayload(json)
  if (typeof json === 'string') return readErrorPayload(json)
  if (/^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)) return { message: htmlText(text), codes: none, kind: 'html' }
  // Some proxies write their errors like this for clients that do not accept HTML.
  if (/^error code: \d{3,4}$/i.test(text)) return { message: text, codes: none, kind: 'html' }
  return { message: cutText(text, MAX_MESSAGE), codes: none, kind: 'text' }
}

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { STREAM_FAILURES, type CallOrigin, type StreamFailure } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { ResponsesHeaders } from '../doors/responses/decode-request.ts'
import { cutText } from '../lib/cut-text.ts'
import { readTraceParent } from '../lib/trace-context.ts'

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
const MAX_TEXT = 512
const NONE: readonly string[] = []
// Control characters would reach logs and destinations.
const CONTROL = /\p{Cc}/gu

/** The first value of a repeated header. */
export function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/** Node decodes headers as Latin-1. Most clients send non-ASCII text as UTF-8, and hardly any other text is valid UTF-8 by chance. */
function decoded(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

/** A header as harmless text: without control characters, cut to a few hundred characters, undefined if empty. */
export function textHeader(request: IncomingMessage, name: string, maxChars = MAX_TEXT): string | undefined {
  const value = one(request.headers[name])
  if (value === undefined) return undefined
  const text = cutText(decoded(value).replace(CONTROL, ''), maxChars)
  return text === '' ? undefined : text
}

const MAX_SESSION = 256

/**
 * Not cut, because a session that is too long is refused with its length (the server bounds all headers). If the caller sends none, the first of
 * `others` that names one; those are clients' own headers, so one that is too long is ignored and not refused.
 */
export function sessionHeader(request: IncomingMessage, others: readonly string[] = NONE): string | undefined {
  const own = textHeader(request, 'x-session-id', Infinity)
  if (own !== undefined) return own
  for (const name of others) {
    const session = textHeader(request, name, Infinity)
    if (session !== undefined && session.length <= MAX_SESSION) return session
  }
  return undefined
}

const BETA = /^[\w.:-]{1,128}$/
const MAX_BETAS = 32

/** Names of features in headers that list them, each once; what cannot be such a name is left out. */
export function betasOf(request: IncomingMessage, headers: readonly string[]): readonly string[] {
  let names: Set<string> | undefined
  for (const header of headers) {
    const value = request.headers[header]
    if (value === undefined) continue
    for (const part of String(value).split(',')) {
      const name = part.trim()
      if (BETA.test(name)) (names ??= new Set()).add(name)
    }
  }
  return names === undefined ? NONE : [...names].slice(0, MAX_BETAS)
}

/** The clients' headers that the operator lets the gateway read. */
export interface CallerHeaders {
  /** Headers in which clients name their sessions, besides the gateway's own. */
  readonly sessions: readonly string[]
  /** Whether `traceparent` names the trace and span that a call belongs to. */
  readonly traces: boolean
}

/** What the headers of a request say besides its body. */
export function headersOf(request: IncomingMessage, betaHeaders: readonly string[], { sessions, traces }: CallerHeaders): ResponsesHeaders {
  const sessionId = sessionHeader(request, sessions)
  const betas = betasOf(request, betaHeaders)
  const metadata = textHeader(request, 'x-gateway-metadata', Infinity)
  const traceparent = traces ? one(request.headers['traceparent']) : undefined
  const parent = traceparent === undefined ? undefined : readTraceParent(traceparent)
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(betas.length === 0 ? {} : { betas }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(parent === undefined ? {} : { parent }),
  }
}

/** The caller's `x-request-id` if it is well-formed: it is returned in the answer and recorded. */
export function requestIdOf(request: IncomingMessage): string | undefined {
  const value = one(request.headers['x-request-id'])
  return value !== undefined && REQUEST_ID.test(value) ? value : undefined
}

export function originOf(request: IncomingMessage, apiType: CallOrigin['apiType']): CallOrigin {
  const userAgent = textHeader(request, 'user-agent')
  const referer = textHeader(request, 'http-referer') ?? textHeader(request, 'referer')
  // Many clients still send the older name.
  const title = textHeader(request, 'x-openrouter-title') ?? textHeader(request, 'x-title')
  return {
    apiType,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(referer === undefined ? {} : { referer }),
    ...(title === undefined ? {} : { title }),
  }
}

/** A header with a fixed set of values; undefined if absent. Throws `invalid_request` for other values. */
export function wordOf<W extends string>(request: IncomingMessage, header: string, words: readonly W[]): W | undefined {
  const value = one(request.headers[header])?.trim().toLowerCase()
  if (value === undefined) return undefined
  const word = words.find((known) => known === value)
  if (word !== undefined) return word
  throw new GatewayError('invalid_request', `${header}: expected ${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`, { path: header })
}

/** How the caller wants a stream; the operator's setting counts if it does not say. Throws `invalid_request` for unknown values. */
export interface StreamPreferences {
  /** What happens to a stream that breaks. */
  readonly streamFailure?: StreamFailure
  /** Keep-alives as events, because some clients count only those. */
  readonly asEvents: boolean
  /** An `error` event before `response.failed`, which some clients ignore. */
  readonly errorEvent: boolean
}

/** `signs`: the door's keep-alives, for callers who do not say. */
export function streamPreferences(request: IncomingMessage, errorEvent: boolean, signs: 'comment' | 'event' = 'comment'): StreamPreferences {
  const streamFailure = wordOf(request, 'x-gateway-stream-failure', STREAM_FAILURES)
  wordOf(request, ERROR_CODE, ERROR_CODES)
  return {
    ...(streamFailure === undefined ? {} : { streamFailure }),
    asEvents: (wordOf(request, 'x-gateway-keep-alive', ['comment', 'event']) ?? signs) === 'event',
    errorEvent: (wordOf(request, 'x-gateway-error-event', ['on', 'off']) ?? (errorEvent ? 'on' : 'off')) === 'on',
  }
}

const ERROR_CODE = 'x-gateway-error-code'
const ERROR_CODES = ['status', 'word'] as const

/** Whether the caller wants the string code of an error, as in streams, instead of the status. Never throws, because an error must be told in any case. */
export const wantsErrorWord = (request: IncomingMessage): boolean => one(request.headers[ERROR_CODE])?.trim().toLowerCase() === 'word'

/** Headers that ask for the routing metadata, and the field each puts it in; the last two are those of the public service. */
const METADATA_HEADERS: readonly (readonly [header: string, field: string])[] = [
  ['x-gateway-experimental-metadata', 'gateway_metadata'],
  ['x-openrouter-metadata', 'openrouter_metadata'],
  ['x-openrouter-experimental-metadata', 'openrouter_metadata'],
]

/** The fields in which the caller wants the metadata; empty if it did not ask. */
export function metadataFields(request: IncomingMessage): readonly string[] {
  let fields: string[] | undefined
  for (const [header, field] of METADATA_HEADERS) {
    const value = request.headers[header]
    if (value === undefined || one(value)?.toLowerCase() !== 'enabled') continue
    fields ??= []
    if (!fields.includes(field)) fields.push(field)
  }
  return fields ?? NONE
}

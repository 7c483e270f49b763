import { EgressError } from '../../lib/egress.ts'
import { cutText } from '../../lib/cut-text.ts'
import { NoAnswer } from './egress-fetch.ts'

/**
 * What goes wrong with a server, recognized by the properties of errors and not by their classes: the SDK is loaded only when needed, and wraps network
 * errors into its own.
 */

/** A failure described for callers and models. `kind` tells what can be done about it. */
export class McpFailure extends Error {
  readonly kind: 'unauthorized' | 'refused' | 'unreachable' | 'timeout' | 'gone' | 'protocol'
  /** Whether the request cannot have been carried out: it was never sent, or it was refused before it was read. */
  readonly unsent: boolean

  constructor(kind: McpFailure['kind'], message: string, unsent: boolean, cause: unknown) {
    super(message, { cause })
    this.name = 'McpFailure'
    this.kind = kind
    this.unsent = unsent
  }
}

const MAX_CHARS = 600
/** Errors of parsers and validators, whose messages are useful only to programmers. */
const UNREADABLE: ReadonlySet<string> = new Set(['SyntaxError', 'ZodError', '$ZodError'])

/** A server's answer to a request that it understood: its code, message and data say nothing about the connection. */
const IN_PROTOCOL = 'ProtocolError'

/** The SDK's code for a server whose first answer it cannot use. */
const NO_ERA = 'ERA_NEGOTIATION_FAILED'

/** What the SDK says of a stream of the older transport that ended while it was connecting. */
const STREAM_ENDED = 'SSE error: undefined'

/** The SDK's code for a request that took longer than it allowed. */
const TIMEOUT = 'REQUEST_TIMEOUT'

interface Clues {
  readonly egress: EgressError | undefined
  readonly status: number | undefined
  readonly code: unknown
}

function cluesOf(error: unknown): Clues {
  let egress: EgressError | undefined
  let status: number | undefined
  let code: unknown
  let current: unknown = error
  for (let depth = 0; depth < 5 && current instanceof Error && current.name !== IN_PROTOCOL; depth++) {
    if (current instanceof EgressError) egress ??= current
    const { data, code: rawCode } = current as Error & {
      readonly data?: { readonly status?: unknown; readonly cause?: unknown }
      readonly code?: unknown
    }
    status ??= [data?.status, rawCode, Number(/^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(current.message)?.[1])].find(isHttpStatus)
    code ??= rawCode
    current = current.cause ?? data?.cause
  }
  return { egress, status, code }
}

const isHttpStatus = (value: unknown): value is number => typeof value === 'number' && value >= 300 && value < 600

/** Many servers send status 400 for a lost session, where the protocol has 404. Only the text distinguishes it from a bad request. */
const FORGOTTEN = /\bsession\b/i
/** An answer with a request's id is about that request: it was read, and may have been carried out. */
const OF_A_QUESTION = /"id"\s*:\s*[^n\s]/
const MAX_WORDS = 1_000

const isForgotten = (words: string): boolean => FORGOTTEN.test(words) && !OF_A_QUESTION.test(words)

/** The text that came with a status. */
function wordsOf(error: unknown): string {
  const { data, message } = error as { readonly data?: { readonly text?: unknown }; readonly message?: string }
  return (typeof data?.text === 'string' ? data.text : (message ?? '')).slice(0, MAX_WORDS)
}

/** The message of a protocol error that came with a status: the model may be able to correct its call. */
function reasonIn(words: string): string {
  const [, quoted] = /"error"\s*:\s*\{[^{}]*?"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(words) ?? []
  try {
    return quoted === undefined ? '' : `: ${cutText(String(JSON.parse(quoted)), MAX_CHARS)}`
  } catch {
    return ''
  }
}

/** Where a redirect leads that the SDK has not followed, in its words: to another origin, or with a status that changes the method. */
const REDIRECT = /\bRedirect (?:to|from https to plain http not followed; try) (\S+)/

function reasonOf(status: number, error: unknown, message: string): string {
  const [, target] = REDIRECT.exec(message) ?? []
  if (status < 400 && target !== undefined)
    return `the server redirects to ${cutText(target, MAX_CHARS)} (${status}), which is not followed: use that as server_url if it is meant`
  return `the server answered with status ${status}${reasonIn(wordsOf(error))}`
}

/** Converts any error to an McpFailure. */
export function failureOf(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error
  const { egress, status, code } = cluesOf(error)
  if (egress !== undefined) return ofEgress(egress)
  if (status === 401) return new McpFailure('unauthorized', 'the server refuses the credentials (401): check authorization and headers', true, error)
  if (status === 403) return new McpFailure('unauthorized', 'the server denies access (403): the credentials do not allow this', true, error)
  if (status === 404) return new McpFailure('gone', 'the server knows no MCP endpoint or session at this address (404)', true, error)
  if (status === 400 && isForgotten(wordsOf(error))) return new McpFailure('gone', 'the server knows no session of ours (400)', true, error)
  if (status === 429) return new McpFailure('protocol', 'the server asks for fewer requests (429)', true, error)
  const isNonsense = code === 'INVALID_RESULT' || (code === NO_ERA && status === undefined)
  if (isNonsense || (error instanceof Error && UNREADABLE.has(error.name)))
    return new McpFailure('protocol', 'the server gave an answer that the protocol does not know', false, error)
  const message = error instanceof Error ? error.message : String(error)
  if (status !== undefined) return new McpFailure('protocol', reasonOf(status, error, message), false, error)
  if (code === TIMEOUT) return new McpFailure('timeout', 'the server did not answer in time', false, error)
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED') return new McpFailure('gone', 'the connection to the server was lost', false, error)
  if (message === STREAM_ENDED) return new McpFailure('protocol', 'the server ended its stream before it named an address for requests', true, error)
  return new McpFailure('protocol', cutText(message, MAX_CHARS), false, error)
}

function ofEgress(error: EgressError): McpFailure {
  const kind = error.kind === 'refused' ? 'refused' : error.kind === 'timeout' || error.kind === 'aborted' ? 'timeout' : 'unreachable'
  return new McpFailure(kind, error.message, error.kind === 'refused' || error.kind === 'connect' || error.kind === 'dns', error)
}

/** Whether the connection is unusable after this error. */
export function isGone(error: unknown): boolean {
  const { kind } = failureOf(error)
  return kind === 'gone' || kind === 'unreachable' || kind === 'unauthorized'
}

/** Servers that know only the older era may fail on the first request of the newer one, answer it with nonsense, or not at all. */
export function mayBeOldEra(error: unknown): boolean {
  const { egress, status, code } = cluesOf(error)
  if (egress !== undefined) return egress instanceof NoAnswer
  return status === undefined ? code === NO_ERA || code === TIMEOUT : status >= 500
}

/** Servers with the older transport answer the first request with a client error, since its address only accepts GET. */
export function mayBeOldTransport(error: unknown): boolean {
  const { status } = cluesOf(error)
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429
}

/** Whether the server has refused a first request with an error of the protocol: so it understood it, and needs no other transport. */
export const saysWhy = (error: unknown): boolean => error instanceof McpFailure && reasonIn(wordsOf(error.cause ?? error)) !== ''

import { GatewayError } from '../../core/error.ts'
import type { ErrorDetails, ErrorType } from '../../core/error.ts'
import { cutText } from '../../lib/cut-text.ts'
import { normalizeCode, readErrorBody, readErrorPayload } from './error-body.ts'
import type { ErrorFacts } from './error-body.ts'
import { matchRule } from './error-rules.ts'
import { markRefusedSchema } from './loose-schemas.ts'
import { markRefusedParameter } from './refused-parameters.ts'
import { retryHint } from './retry-hint.ts'
import type { UpstreamHeaders } from './retry-hint.ts'
import { scrubbedExcerpt } from './scrub.ts'
import { markUnstreamed } from './unstreamed.ts'

const MAX_RAW_CHARS = 4096
const MAX_MESSAGE_CHARS = 1000

export interface UpstreamFailure {
  readonly status: number
  readonly headers: UpstreamHeaders
  readonly body: string
  readonly providerName: string
  /** Milliseconds since the epoch, for hints that name a point in time. */
  readonly now?: number
}

export interface PayloadContext {
  readonly providerName: string
  /** Status of the HTTP answer or of the frame; 200 and absent mean nothing. */
  readonly status?: number
  /** A code outside of the payload: an exception type in a frame header. */
  readonly code?: string
  readonly now?: number
}

/**
 * Turns an upstream's HTTP answer with status 400 or more (or any other refusal) into the gateway's error. Content decides before status, because the
 * same fault has different statuses at different vendors. Never throws.
 */
export function classifyUpstreamError(failure: UpstreamFailure): GatewayError {
  const read = readErrorBody(failure.body)
  const exception = header(failure.headers, 'x-amzn-errortype')
  const facts = exception === undefined ? read : withCode(read, exception)
  const error = buildError(facts, failure.status, failure.headers, failure.body, failure.providerName, failure.now ?? Date.now())
  return markUnstreamed(failure.status, markRefusedParameter(failure.status, markRefusedSchema(failure.status, error)))
}

/** An error inside an answer with status 200: an `error` chunk or event, a failed terminal event. Never throws. */
export function errorFromPayload(payload: unknown, context: PayloadContext): GatewayError {
  const read = readErrorPayload(payload)
  const facts = context.code === undefined ? read : withCode(read, context.code)
  const outer = context.status !== undefined && context.status >= 400 ? context.status : undefined
  return buildError(facts, outer ?? facts.status ?? 0, {}, stringify(payload), context.providerName, context.now ?? Date.now())
}

/** Why an answer is broken: the provider's own word for its end, or the text that could not be read. */
export interface BrokenAnswer {
  readonly native?: string | undefined
  readonly raw?: string | undefined
  /** Default: `provider_unavailable`. */
  readonly type?: ErrorType | undefined
}

/** An answer that is unusable: cut off, empty, garbage, or ended by a failure of the model. `what` begins with a verb: "sent an empty answer". */
export function brokenAnswer(providerName: string, what: string, { native, raw, type = 'provider_unavailable' }: BrokenAnswer = {}): GatewayError {
  return new GatewayError(type, `${providerName} ${what}`, {
    source: 'provider',
    providerName,
    ...(native === undefined ? {} : { providerCode: native }),
    ...(raw === undefined ? {} : { raw: scrubbedExcerpt(raw, MAX_RAW_CHARS) }),
  })
}

/** An answer without content. `finish` is what its end means, `native` the provider's word for that: a model that chose to stop has one. */
export function emptyAnswer(providerName: string, native: string | undefined, finish: string | undefined): GatewayError {
  const error = brokenAnswer(providerName, 'sent an empty answer', { native })
  if (native === undefined) return error
  return error.with({ fruitless: true, ...(finish === 'stop' ? { wordless: true } : {}) })
}

function buildError(facts: ErrorFacts, status: number, headers: UpstreamHeaders, raw: string, providerName: string, now: number): GatewayError {
  const verdict = matchRule({ status, facts })
  const code = facts.code ?? [...facts.codes][0]
  const wait = HINTED.has(verdict.type) ? retryHint(headers, facts.payload, facts.message, now) : undefined
  const details: ErrorDetails = {
    source: 'provider',
    providerName,
    ...(status > 0 ? { upstreamStatus: status } : {}),
    ...(code === undefined ? {} : { providerCode: scrubbedExcerpt(code, 200) }),
    ...(raw === '' ? {} : { raw: scrubbedExcerpt(raw, MAX_RAW_CHARS) }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(facts.param === undefined ? {} : { path: cutText(facts.param, 200) }),
    ...(verdict.failover === undefined ? {} : { failover: verdict.failover }),
    ...(verdict.publicCode === undefined ? {} : { publicCode: verdict.publicCode }),
    ...(verdict.credentialDead ? { credentialDead: true } : {}),
  }
  return new GatewayError(verdict.type, messageOf(facts, status, providerName), details)
}

/** Errors that pass by waiting. */
const HINTED: ReadonlySet<ErrorType> = new Set(['rate_limit_exceeded', 'provider_overloaded', 'provider_unavailable', 'timeout', 'payment_required'])

function messageOf(facts: ErrorFacts, status: number, providerName: string): string {
  if (facts.message !== '' && facts.kind !== 'html') return scrubbedExcerpt(facts.message, MAX_MESSAGE_CHARS)
  const detail = facts.kind === 'html' && facts.message !== '' ? `: ${scrubbedExcerpt(facts.message, 300)}` : ''
  return status > 0 ? `${providerName} answered with status ${status}${detail}` : `${providerName} reported an error without saying which`
}

function withCode(facts: ErrorFacts, code: string): ErrorFacts {
  const name = code.split(':')[0]!
  return { ...facts, code: facts.code ?? name, codes: new Set([normalizeCode(code), ...facts.codes]) }
}

function header(headers: UpstreamHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

function stringify(payload: unknown): string {
  if (typeof payload === 'string') return payload
  try {
    return JSON.stringify(payload) ?? ''
  } catch {
    return ''
  }
}

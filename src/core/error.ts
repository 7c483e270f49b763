/**
 * One error class with one table of kinds. Errors are thrown everywhere, but converted to bytes in two places only: http/error-handler before the
 * first byte, the writer of a front door after it.
 */

export type ErrorType =
  | 'invalid_request'
  | 'invalid_prompt'
  | 'context_length_exceeded'
  | 'max_tokens_exceeded'
  | 'token_limit_exceeded'
  | 'string_too_long'
  | 'content_policy_violation'
  | 'refusal'
  | 'invalid_image'
  | 'image_too_large'
  | 'image_too_small'
  | 'unsupported_image_format'
  | 'image_not_found'
  | 'image_download_failed'
  | 'authentication'
  | 'payment_required'
  | 'permission_denied'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'timeout'
  | 'payload_too_large'
  | 'unprocessable'
  | 'rate_limit_exceeded'
  | 'server'
  | 'provider_unavailable'
  | 'provider_overloaded'

interface ErrorKind {
  readonly status: number
  /** `error.code` of a `response.failed` event. */
  readonly code: string
  /**
   * What the router may do after an upstream attempt with this error: `retry`: once more on the same endpoint, then the next; `next`: another
   * endpoint; `next-model`: only endpoints of another model (the same prompt fails on every endpoint of this one); `never`: the caller's request
   * would fail everywhere.
   */
  readonly failover: 'retry' | 'next' | 'next-model' | 'never'
}

/** Limits on images and texts differ between vendors, so another endpoint may take what one refuses. */
export const ERROR_KINDS: { readonly [T in ErrorType]: ErrorKind } = {
  invalid_request: { status: 400, code: 'invalid_prompt', failover: 'never' },
  invalid_prompt: { status: 400, code: 'invalid_prompt', failover: 'never' },
  context_length_exceeded: { status: 400, code: 'context_length_exceeded', failover: 'next-model' },
  max_tokens_exceeded: { status: 400, code: 'invalid_prompt', failover: 'next-model' },
  token_limit_exceeded: { status: 400, code: 'invalid_prompt', failover: 'next-model' },
  string_too_long: { status: 400, code: 'invalid_prompt', failover: 'next' },
  content_policy_violation: { status: 400, code: 'invalid_prompt', failover: 'next-model' },
  refusal: { status: 400, code: 'invalid_prompt', failover: 'next-model' },
  invalid_image: { status: 400, code: 'invalid_image', failover: 'next' },
  image_too_large: { status: 400, code: 'image_too_large', failover: 'next' },
  image_too_small: { status: 400, code: 'image_too_small', failover: 'next' },
  unsupported_image_format: { status: 400, code: 'unsupported_image_media_type', failover: 'next' },
  image_not_found: { status: 404, code: 'image_file_not_found', failover: 'next' },
  image_download_failed: { status: 400, code: 'failed_to_download_image', failover: 'next' },
  authentication: { status: 401, code: 'server_error', failover: 'next' },
  payment_required: { status: 402, code: 'server_error', failover: 'next' },
  permission_denied: { status: 403, code: 'server_error', failover: 'next' },
  not_found: { status: 404, code: 'server_error', failover: 'next' },
  conflict: { status: 409, code: 'server_error', failover: 'never' },
  precondition_failed: { status: 412, code: 'server_error', failover: 'never' },
  timeout: { status: 408, code: 'server_error', failover: 'next' },
  payload_too_large: { status: 413, code: 'invalid_prompt', failover: 'next' },
  unprocessable: { status: 422, code: 'invalid_prompt', failover: 'never' },
  rate_limit_exceeded: { status: 429, code: 'rate_limit_exceeded', failover: 'next' },
  server: { status: 500, code: 'server_error', failover: 'never' },
  provider_unavailable: { status: 502, code: 'server_error', failover: 'retry' },
  provider_overloaded: { status: 503, code: 'server_error', failover: 'retry' },
}

export interface ErrorDetails {
  /** Who caused the error: the gateway (default) or the upstream. */
  readonly source?: 'gateway' | 'provider'
  /** HTTP status of the upstream's response. */
  readonly upstreamStatus?: number
  /** The upstream's own error code, as text. */
  readonly providerCode?: string
  readonly providerName?: string
  /** The upstream's error body, without secrets and cut to a few kilobytes. */
  readonly raw?: string
  /** Milliseconds until a retry makes sense. */
  readonly retryAfterMs?: number
  /** Path of the offending field, for validation errors. */
  readonly path?: string
  /** Overrides the table's failover rule (for a parameter that one endpoint lacks, or an invalid credential). */
  readonly failover?: ErrorKind['failover']
  /** Overrides the table's public code in `response.failed`. */
  readonly publicCode?: string
  /** The model ended its answer normally, but without any content. */
  readonly wordless?: boolean
  /** The model was reached and ended its answer itself, without a word or with nothing that can be used. What it was asked may have brought that about. */
  readonly fruitless?: boolean
  /** Another try of the same answer was fruitless, although this is the error that is told. */
  readonly fruitlessTry?: boolean
  /** True if the credential can no longer be used (401, 402, 403, exhausted quota). */
  readonly credentialDead?: boolean
  /** Extra fields for `error.metadata`. */
  readonly metadata?: { readonly [key: string]: unknown }
  /** Extra response headers (rate limits). */
  readonly headers?: { readonly [name: string]: string }
  readonly cause?: unknown
}

/** External text may contain lone surrogates, which strict JSON parsers refuse. */
function wholeCharacters(details: ErrorDetails): ErrorDetails {
  const { providerCode, raw, path } = details
  if (providerCode?.isWellFormed() !== false && raw?.isWellFormed() !== false && path?.isWellFormed() !== false) return details
  return {
    ...details,
    ...(providerCode === undefined ? {} : { providerCode: providerCode.toWellFormed() }),
    ...(raw === undefined ? {} : { raw: raw.toWellFormed() }),
    ...(path === undefined ? {} : { path: path.toWellFormed() }),
  }
}

const MARKER = Symbol.for('signalbox.gateway-error')

export class GatewayError extends Error {
  readonly [MARKER] = true
  readonly errorType: ErrorType
  readonly details: ErrorDetails

  constructor(errorType: ErrorType, message: string, details: ErrorDetails = {}) {
    super(message.toWellFormed(), details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'GatewayError'
    this.errorType = errorType
    this.details = wholeCharacters(details)
  }

  get status(): number {
    return ERROR_KINDS[this.errorType].status
  }
  get publicCode(): string {
    return this.details.publicCode ?? ERROR_KINDS[this.errorType].code
  }
  get failover(): ErrorKind['failover'] {
    return this.details.failover ?? ERROR_KINDS[this.errorType].failover
  }
  /** The same error with more details. */
  with(details: ErrorDetails): GatewayError {
    return new GatewayError(this.errorType, this.message, { ...this.details, ...details })
  }
}

export function isGatewayError(value: unknown): value is GatewayError {
  return typeof value === 'object' && value !== null && MARKER in value
}

/** Converts any thrown value to a GatewayError. Everything else is a bug of ours (`server`, 500). */
export function asGatewayError(value: unknown): GatewayError {
  if (isGatewayError(value)) return value
  return new GatewayError('server', 'Internal error', { cause: value })
}

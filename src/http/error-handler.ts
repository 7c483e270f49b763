import type { GatewayError } from '../core/error.ts'
import type { Door } from '../doors/shared/door.ts'
import { cutText } from '../lib/cut-text.ts'
import { wellFormedJson } from '../lib/json.ts'

export interface RenderedError {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

const MAX_MESSAGE = 1_000

/** Failures whose answer never carries routing metadata, because they have no route or must reveal little. */
const WITHOUT_ROUTE: ReadonlySet<string> = new Set(['server', 'authentication', 'rate_limit_exceeded', 'invalid_request'])

/**
 * Any failure before the first byte, as the contract's envelope: `{"error":{"code":<HTTP status>,"message","metadata":{...}}}`. A bug of ours is
 * masked: the caller gets an id to quote, the log gets the cause. `requestFields` is added beside `error` for every failure. `envelope`: converts it to a
 * front door's own format. `byWord`: use the string code that a stream would end with.
 */
export function renderError(
  error: GatewayError,
  requestId: string,
  route?: { readonly [field: string]: unknown },
  requestFields?: { readonly [field: string]: unknown },
  envelope?: Door['envelope'],
  byWord = false,
): RenderedError {
  const { details } = error
  const masked = error.errorType === 'server'
  const metadata = {
    error_type: error.errorType,
    source: details.source ?? 'gateway',
    ...(details.path === undefined ? {} : { path: details.path }),
    ...(details.providerName === undefined ? {} : { provider_name: details.providerName }),
    ...(details.providerCode === undefined ? {} : { provider_code: details.providerCode }),
    ...(details.raw === undefined ? {} : { raw: details.raw }),
    ...(masked ? { request_id: requestId } : details.metadata),
  }
  const message = masked ? `Internal error; quote the request id ${requestId}` : cutText(error.message, MAX_MESSAGE)
  const headers: Record<string, string> = { 'content-type': 'application/json', ...details.headers }
  const retryAfter = details.retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(details.retryAfterMs / 1000))
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter)
  // Some clients otherwise repeat a call whose key was refused, for minutes. The header is that of the vendors' SDKs.
  if (error.errorType === 'authentication') headers['x-should-retry'] = 'false'
  const body = {
    error: { code: error.status, message, metadata },
    ...(WITHOUT_ROUTE.has(error.errorType) ? {} : route),
    ...requestFields,
  }
  // Messages of providers and callers may have been cut in the middle of a surrogate pair.
  const answer = envelope?.(body, requestId, retryAfter) ?? (byWord ? { ...body, error: { ...body.error, code: error.publicCode } } : body)
  return { status: error.status, headers, body: wellFormedJson(JSON.stringify(answer)) }
}

import { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError, errorFromPayload } from '../shared/errors.ts'
import { isObject, tryParseJson } from '../shared/json.ts'
import { markUnreadableThoughts } from '../shared/unreadable-thoughts.ts'
import type { BedrockTarget } from './media.ts'

/** HTTP statuses of exceptions inside a stream with status 200; names in lower case. */
const STATUS: { readonly [name: string]: number } = {
  internalserverexception: 500,
  modelstreamerrorexception: 500,
  modelerrorexception: 500,
  serviceunavailableexception: 503,
  throttlingexception: 429,
  servicequotaexceededexception: 429,
  modelnotreadyexception: 503,
  modeltimeoutexception: 408,
  validationexception: 400,
  accessdeniedexception: 403,
  unrecognizedclientexception: 403,
  expiredtokenexception: 403,
  resourcenotfoundexception: 404,
}

/** An error from an exception frame. An unknown exception is a failure too. */
export function exceptionError(name: string, data: string, target: BedrockTarget): GatewayError {
  const parsed = tryParseJson(data)
  const payload = isObject(parsed) ? parsed : { message: data }
  const known = STATUS[name.toLowerCase()] ?? 500
  // For a failure of the model, its status counts only if it is more specific than a general error.
  const original = payload['originalStatusCode']
  const status = known === 500 && (original === 429 || original === 503) ? original : known
  const { originalStatusCode: _status, ...rest } = payload
  return markUnreadableThoughts(status, errorFromPayload(rest, { providerName: target.providerName, code: name, status }))
}

/** An HTTP error of this service; never throws. Adds what only the service's messages tell. */
export function decodeHttpError(
  status: number,
  headers: { readonly [name: string]: string | string[] | undefined },
  body: string,
  target: BedrockTarget,
): GatewayError {
  const error = markUnreadableThoughts(status, classifyUpstreamError({ status, headers, body, providerName: target.providerName }))
  if (error.errorType !== 'invalid_request') return error
  if (
    /model identifier is invalid|on-demand throughput isn.t supported|end of its life|model .{0,80}not (?:available|supported) in this region/i.test(
      error.message,
    )
  ) {
    return new GatewayError('not_found', error.message, { ...error.details, failover: 'next' })
  }
  // This model's schema lacks a field, which another endpoint may have.
  return /extraneous key|malformed input request/i.test(error.message) ? error.with({ failover: 'next' }) : error
}

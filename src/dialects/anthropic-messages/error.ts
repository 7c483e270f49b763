import type { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError } from '../shared/errors.ts'

/** Complaints about thoughts we sent back: signed by somebody else, changed, or missing where the endpoint insists on them. */
const UNREADABLE =
  /(?:signature|data)\W.{0,20}\bin\b.{0,4}(?:redacted_)?thinking|expected `?thinking`?.{0,60}found|thinking`? blocks? .{0,80}cannot be modified/i

/**
 * An HTTP answer with a status of 400 or more. A request refused for the reasoning of its history may be sent again without it: such an
 * error asks for one more attempt at the same endpoint, and its metadata say how (shared/without-reasoning.ts).
 */
export function decodeMessagesError(
  status: number,
  headers: { readonly [name: string]: string | string[] | undefined },
  body: string,
  providerName: string,
): GatewayError {
  const error = classifyUpstreamError({ status, headers, body, providerName })
  if (status !== 400 || !UNREADABLE.test(error.message)) return error
  return error.with({ failover: 'retry', metadata: { ...error.details.metadata, strip_reasoning: true } })
}

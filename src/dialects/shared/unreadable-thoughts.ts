import type { GatewayError } from '../../core/error.ts'

/** Complaints about thoughts we sent back: signed by somebody else, changed, or missing where the endpoint insists on them. */
const UNREADABLE =
  /(?:signature|data)\W.{0,20}\bin\b.{0,4}(?:redacted_)?thinking|expected `?thinking`?.{0,60}found|thinking`? blocks? .{0,80}cannot be modified/i

/**
 * A request of status 400 refused for the signed thoughts of its history may be sent again without them: such an error asks for one more
 * attempt at the same endpoint, and its metadata say how (without-reasoning.ts).
 */
export function markUnreadableThoughts(status: number, error: GatewayError): GatewayError {
  if (status !== 400 || !UNREADABLE.test(error.message)) return error
  return error.with({ failover: 'retry', metadata: { ...error.details.metadata, strip_reasoning: true } })
}

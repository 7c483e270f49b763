import type { GatewayError } from '../../core/error.ts'

/** Complaints about reasoning that was sent back: signed by somebody else, changed, or missing where the endpoint requires it. */
const UNREADABLE =
  /(?:signature|data)\W.{0,20}\bin\b.{0,4}(?:redacted_)?thinking|expected `?thinking`?.{0,60}found|thinking`? blocks? .{0,80}cannot be modified/i

/**
 * A request refused with status 400 because of signed reasoning in its history may be sent again without it: such an error asks for one more attempt
 * at the same endpoint, and its metadata say how (without-reasoning.ts).
 */
export function markUnreadableThoughts(status: number, error: GatewayError): GatewayError {
  if (status !== 400 || !UNREADABLE.test(error.message)) return error
  return error.with({ failover: 'retry', metadata: { ...error.details.metadata, strip_reasoning: true } })
}

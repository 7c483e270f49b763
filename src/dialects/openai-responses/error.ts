import type { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError, errorFromPayload } from '../shared/errors.ts'

const UNREADABLE = /^(?:invalid_encrypted_content|thinking_signature_invalid)$/
const UNREADABLE_TEXT = /encrypted[ _]content .{0,80}(?:could not be|cannot be|failed to be|was not) (?:verified|decrypted|parsed|decoded)/i

/**
 * An upstream that cannot read the reasoning which we sent back can still serve the request without it. Such an error requests one more attempt at
 * the same endpoint (`failover: 'retry'`) and says how: its metadata contain `strip_reasoning: true`, and the attempt layer sends
 * `withoutReasoning(request)` (shared/without-reasoning.ts).
 */
function markUnreadableReasoning(error: GatewayError): GatewayError {
  if (!UNREADABLE.test(error.details.providerCode ?? '') && !UNREADABLE_TEXT.test(error.message)) return error
  return error.with({ failover: 'retry', metadata: { ...error.details.metadata, strip_reasoning: true } })
}

/** The error of an HTTP answer with a status of 400 or more. */
export function decodeResponsesError(
  status: number,
  headers: { readonly [name: string]: string | string[] | undefined },
  body: string,
  providerName: string,
): GatewayError {
  return markUnreadableReasoning(classifyUpstreamError({ status, headers, body, providerName }))
}

/** An error inside an answer with status 200. */
export function streamError(payload: unknown, providerName: string): GatewayError {
  return markUnreadableReasoning(errorFromPayload(payload, { providerName }))
}

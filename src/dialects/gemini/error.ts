import { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError, errorFromPayload } from '../shared/errors.ts'
import { asString } from '../shared/json.ts'

const SIGNATURE = /thought[_ ]?signature/i
const UNREADABLE = /invalid|corrupt|not valid|mismatch|expired|decode|malformed|unable|fail/i

/** An unreadable signature fails at every endpoint of this scope, so the call is retried without the old reasoning. */
export function markUnreadableSignature(error: GatewayError): GatewayError {
  if (!SIGNATURE.test(error.message) || !UNREADABLE.test(error.message)) return error
  return error.with({ failover: 'retry', metadata: { ...error.details.metadata, strip_reasoning: true } })
}

/** The error of an HTTP answer with a status of 400 or more. */
export function decodeGeminiError(
  status: number,
  headers: { readonly [name: string]: string | string[] | undefined },
  body: string,
  providerName: string,
): GatewayError {
  return markUnreadableSignature(classifyUpstreamError({ status, headers, body, providerName }))
}

/** An error inside an answer with status 200: a separate chunk, or the whole body. */
export function streamError(payload: unknown, providerName: string): GatewayError {
  return markUnreadableSignature(errorFromPayload(payload, { providerName }))
}

/** `promptFeedback` with a reason: the prompt never reached the model. */
export function blockedPrompt(feedback: { readonly [field: string]: unknown }, providerName: string): GatewayError {
  const reason = asString(feedback['blockReason']) ?? ''
  const message = asString(feedback['blockReasonMessage'])
  return new GatewayError('content_policy_violation', message || `${providerName} blocked the prompt (${reason})`, {
    source: 'provider',
    providerName,
    providerCode: reason,
    ...(reason === 'IMAGE_SAFETY' ? { publicCode: 'image_content_policy_violation' } : {}),
  })
}

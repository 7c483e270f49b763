import type { Call } from '../core/call.ts'
import { createUsage, mendEstimate, type Usage } from '../core/usage.ts'
import { writtenText } from '../doors/responses/resource.ts'
import { estimateRequest, textTokens } from '../router/estimate.ts'

/** The usage of a call for which the upstream reported none or not all, estimated from the prompt and the output so far. */
export function estimateUsage(call: Call): Usage {
  if (call.trace.served === undefined) return createUsage({})
  const { text, reasoning } = writtenText(call.output())
  const reasoningTokens = Math.ceil(textTokens(reasoning))
  const { inputTokens, audioTokens } = estimateRequest(call.request, call.trace.served.dropped)
  const estimate = createUsage({
    inputTokens,
    audioInputTokens: audioTokens,
    outputTokens: Math.ceil(textTokens(text)) + reasoningTokens + (call.trace.undeliveredTokens ?? 0),
    reasoningTokens,
    estimated: true,
  })
  return mendEstimate(estimate, call.trace.served.counted)
}

import type { Call } from '../core/call.ts'
import { DRAWN, hasResult, PICTURE_TOKENS } from '../core/picture-items.ts'
import { createUsage, mendEstimate, type Usage } from '../core/usage.ts'
import { writtenText } from '../doors/responses/resource.ts'
import { likelyPrompt, textTokens } from '../router/estimate.ts'

/** The usage of a call for which the upstream reported none or not all, estimated from the prompt and the output so far. */
export function estimateUsage(call: Call): Usage {
  if (call.trace.served === undefined) return createUsage({})
  const { text, reasoning } = writtenText(call.output())
  const reasoningTokens = Math.ceil(textTokens(reasoning))
  const imageOutputTokens = picturesIn(call) * PICTURE_TOKENS
  const estimate = createUsage({
    ...likelyPrompt(call.request, call.trace.served.dropped),
    outputTokens: Math.ceil(textTokens(text)) + reasoningTokens + imageOutputTokens + (call.trace.undeliveredTokens ?? 0),
    imageOutputTokens,
    reasoningTokens,
    estimated: true,
  })
  return mendEstimate(estimate, call.trace.served.counted)
}

/** How many pictures the model has written, also for a caller who left before they were delivered. Those of a tool are no output of the model, and are charged in another way. */
function picturesIn({ output, trace }: Call): number {
  if (trace.served?.endpoint.outputModalities.has('image') !== true) return 0
  return output().filter((item) => item.type === DRAWN && hasResult(item)).length + (trace.undeliveredPictures ?? 0)
}

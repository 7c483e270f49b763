import type { JsonObject } from '../../core/item.ts'
import { presentUsage, type ResourceState } from '../responses/resource.ts'
import { namedCosts } from '../shared/named-costs.ts'

/** What an answer took, in the counters of this format: thoughts beside the rest of the answer. What it cost stands beside them. */
export function usageMetadataOf({ usage, cost, isByok }: ResourceState): JsonObject | undefined {
  if (usage === undefined) return undefined
  const { inputTokens, outputTokens, reasoningTokens, cachedTokens, totalTokens, imageOutputTokens = 0 } = usage
  const {
    cost: paid,
    cost_details: details,
    is_byok: byok,
  } = presentUsage(usage, cost, isByok ?? false) as { readonly [field: string]: JsonObject | undefined }
  const visible = Math.max(0, outputTokens - reasoningTokens)
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: visible,
    totalTokenCount: totalTokens,
    ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
    ...(cachedTokens > 0 ? { cachedContentTokenCount: cachedTokens } : {}),
    ...(imageOutputTokens > 0 ? { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: imageOutputTokens }] } : {}),
    cost: paid ?? null,
    ...(details === undefined ? {} : { cost_details: namedCosts(details) }),
    is_byok: byok,
  }
}

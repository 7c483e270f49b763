import type { JsonObject } from '../../core/item.ts'
import type { Usage } from '../../core/usage.ts'
import { presentUsage, type ResourceState } from '../responses/resource.ts'
import type { Embedded } from '../embeddings/fold.ts'
import { namedCosts } from '../shared/named-costs.ts'

/** The usage of an answer in the counters of this format, which count reasoning separately. The cost is added beside them. */
export function usageMetadataOf({ usage, cost, isByok }: ResourceState): JsonObject | undefined {
  if (usage === undefined) return undefined
  const { inputTokens, outputTokens, reasoningTokens, cachedTokens, totalTokens, audioInputTokens = 0, imageOutputTokens = 0 } = usage
  const visible = Math.max(0, outputTokens - reasoningTokens)
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: visible,
    totalTokenCount: totalTokens,
    ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
    ...(cachedTokens > 0 ? { cachedContentTokenCount: cachedTokens } : {}),
    ...(audioInputTokens > 0 ? { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: audioInputTokens }] } : {}),
    ...(imageOutputTokens > 0 ? { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: imageOutputTokens }] } : {}),
    ...paidFor({ usage, cost, isByok: isByok ?? false }),
  }
}

/** The same for embeddings. */
export function vectorUsageOf(embedded: Pick<Embedded, 'usage' | 'cost' | 'isByok'>): JsonObject | undefined {
  const { usage } = embedded
  if (usage === undefined) return undefined
  return { promptTokenCount: usage.inputTokens, totalTokenCount: usage.totalTokens, ...paidFor({ ...embedded, usage }) }
}

function paidFor({ usage, cost, isByok }: Pick<Embedded, 'cost' | 'isByok'> & { readonly usage: Usage }): JsonObject {
  const presented = presentUsage(usage, cost, isByok) as { readonly [field: string]: JsonObject | undefined }
  const { cost: paid, cost_details: details, is_byok: byok } = presented
  return { cost: paid ?? null, ...(details === undefined ? {} : { cost_details: namedCosts(details) }), is_byok: byok }
}

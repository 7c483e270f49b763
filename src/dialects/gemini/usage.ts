import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'

type Json = { readonly [field: string]: unknown }

const number = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** Tokens of one modality in a list of details, which may contain it more than once. */
function modality(details: unknown, name: string): number | undefined {
  if (!Array.isArray(details)) return undefined
  const counts = details.flatMap((each) => (isObject(each) && each['modality'] === name ? (number(each['tokenCount']) ?? []) : []))
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count)
}

/**
 * Normalises `usageMetadata`. Thoughts are counted separately from the candidates, and content that tools added to the prompt separately from the
 * prompt. Endpoints that include thoughts in the candidates are recognised by their total.
 */
export function decodeUsage(raw: Json, searches = 0): Usage {
  const prompt = number(raw['promptTokenCount']) ?? 0
  const toolPrompt = number(raw['toolUsePromptTokenCount']) ?? 0
  const thoughts = number(raw['thoughtsTokenCount']) ?? 0
  const total = number(raw['totalTokenCount'])
  const input = prompt + toolPrompt
  const candidates = number(raw['candidatesTokenCount'])
  // If the visible part has no count, it is the rest of the total.
  const visible = candidates ?? (total === undefined ? 0 : Math.max(0, total - input - thoughts))
  const inclusive = thoughts > 0 && total !== undefined && thoughts <= visible && (prompt + visible === total || input + visible === total)
  return createUsage({
    inputTokens: input,
    outputTokens: inclusive ? visible : visible + thoughts,
    cachedTokens: number(raw['cachedContentTokenCount']),
    reasoningTokens: thoughts,
    audioInputTokens: modality(raw['promptTokensDetails'], 'AUDIO'),
    cachedAudioTokens: modality(raw['cacheTokensDetails'], 'AUDIO'),
    imageOutputTokens: modality(raw['candidatesTokensDetails'], 'IMAGE'),
    serverToolUse: searches > 0 ? { web_search: searches } : undefined,
    raw,
  })
}

import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'

type Json = { readonly [field: string]: unknown }

const number = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** Tokens of one modality in a list of details, which may name it more than once. */
function modality(details: unknown, name: string): number | undefined {
  if (!Array.isArray(details)) return undefined
  const counts = details.flatMap((each) => (isObject(each) && each['modality'] === name ? (number(each['tokenCount']) ?? []) : []))
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count)
}

/**
 * `usageMetadata` in the gateway's normal form. Thoughts are counted beside the candidates and what tools put into the prompt beside the
 * prompt; endpoints that count thoughts among the candidates are known by their total.
 */
export function decodeUsage(raw: Json, searches = 0): Usage {
  const prompt = number(raw['promptTokenCount']) ?? 0
  const toolPrompt = number(raw['toolUsePromptTokenCount']) ?? 0
  const thoughts = number(raw['thoughtsTokenCount']) ?? 0
  const total = number(raw['totalTokenCount'])
  const input = prompt + toolPrompt
  const candidates = number(raw['candidatesTokenCount'])
  // Without a count of its own the visible part is what the total leaves.
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

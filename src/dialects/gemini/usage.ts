import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { modalityTokens } from '../shared/modality-tokens.ts'

type Json = { readonly [field: string]: unknown }

const number = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/**
 * Normalises `usageMetadata`. Thoughts are counted separately from the candidates, and content that tools added to the prompt separately from the
 * prompt. Endpoints that include thoughts in the candidates are recognised by their total.
 */
export function decodeUsage(raw: Json, searches = 0): Usage {
  const known = number(raw['promptTokenCount'])
  const prompt = known ?? 0
  const toolPrompt = number(raw['toolUsePromptTokenCount']) ?? 0
  const thoughts = number(raw['thoughtsTokenCount']) ?? 0
  const total = number(raw['totalTokenCount'])
  const input = prompt + toolPrompt
  const candidates = number(raw['candidatesTokenCount'])
  // If the visible part has no count, it is the rest of the total. A total without the prompt does not say how much of it is output.
  const visible = candidates ?? (total === undefined || known === undefined ? 0 : Math.max(0, total - input - thoughts))
  const inclusive = thoughts > 0 && total !== undefined && thoughts <= visible && (prompt + visible === total || input + visible === total)
  return createUsage({
    inputTokens: input,
    outputTokens: inclusive ? visible : visible + thoughts,
    cachedTokens: number(raw['cachedContentTokenCount']),
    reasoningTokens: thoughts,
    audioInputTokens: modalityTokens(raw['promptTokensDetails'], 'AUDIO'),
    cachedAudioTokens: modalityTokens(raw['cacheTokensDetails'], 'AUDIO'),
    imageOutputTokens: modalityTokens(raw['candidatesTokensDetails'], 'IMAGE'),
    serverToolUse: searches > 0 ? { web_search: searches } : undefined,
    raw,
  })
}

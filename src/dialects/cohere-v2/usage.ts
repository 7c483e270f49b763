import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'

const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0)

/**
 * Normalises `usage`. `tokens` is what the model read and wrote, including images; `billed_units`, which leaves out what the vendor adds to a prompt,
 * is what it charges for.
 */
export function decodeUsage(raw: { readonly [field: string]: unknown }): Usage {
  const billed = isObject(raw['billed_units']) ? raw['billed_units'] : {}
  const tokens = isObject(raw['tokens']) ? raw['tokens'] : billed
  const charged = isObject(raw['tokens']) && isObject(raw['billed_units'])
  const searches = count(billed['search_units'])
  return createUsage({
    inputTokens: count(tokens['input_tokens']) + count(tokens['image_tokens']),
    outputTokens: count(tokens['output_tokens']),
    cachedTokens: count(raw['cached_tokens'] ?? tokens['cached_tokens']),
    reasoningTokens: count(tokens['reasoning_tokens']),
    billed: charged ? { inputTokens: count(billed['input_tokens']), outputTokens: count(billed['output_tokens']) } : undefined,
    serverToolUse: searches > 0 ? { web_search: searches } : undefined,
    raw,
  })
}

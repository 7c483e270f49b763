import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'

const count = (...values: readonly unknown[]): number =>
  values.find((value): value is number => typeof value === 'number' && Number.isFinite(value) && value > 0) ?? 0

/**
 * Normalises `usage`. In this format the input excludes the tokens that were read from a cache or written to it.
 *
 * @param searches web searches in the answer, if the usage does not count them
 */
export function decodeUsage(raw: { readonly [field: string]: unknown }, searches = 0): Usage {
  const read = count(raw['cacheReadInputTokens'], raw['cacheReadInputTokenCount'])
  const written = count(raw['cacheWriteInputTokens'], raw['cacheWriteInputTokenCount'])
  const details = Array.isArray(raw['cacheDetails']) ? raw['cacheDetails'] : []
  const hour = details.reduce(
    (sum: number, entry: unknown) => (isObject(entry) && entry['ttl'] === '1h' ? sum + count(entry['inputTokens']) : sum),
    0,
  )
  return createUsage({
    inputTokens: count(raw['inputTokens']) + read + written,
    cachedTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: hour,
    outputTokens: count(raw['outputTokens']),
    serverToolUse: serverTools(raw['serverToolUsage']) ?? (searches > 0 ? { web_search: searches } : undefined),
    raw,
  })
}

function serverTools(usage: unknown): Usage['serverToolUse'] | undefined {
  if (!isObject(usage)) return undefined
  const counts: Record<string, number> = {}
  for (const [name, value] of Object.entries(usage)) {
    const times = count(value)
    if (times > 0) counts[/search/i.test(name) ? 'web_search' : name] = times
  }
  return Object.keys(counts).length > 0 ? counts : undefined
}

import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'
import { compiled } from '../shared/pattern.ts'
import { overlayCounts } from '../shared/usage-counts.ts'
import type { MessagesTarget } from './options.ts'

type Json = { readonly [field: string]: unknown }

const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0)
const object = (value: unknown): Json => (isObject(value) ? value : {})

const INPUT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const

/**
 * Merges usage reports: counts at the start, and cumulative ones at the end that override them. A report without any input counts erases none. In one
 * with input counts, zeros count as well (the input of an answer with a compaction is reported anew).
 */
export function overlayUsage(before: Json | undefined, update: unknown): Json | undefined {
  if (!isObject(update)) return before
  const known = before ?? {}
  if (!INPUT_COUNTS.some((field) => number(update[field]) > 0)) return overlayCounts(known, update)
  const reported = Object.entries(update).filter(([, value]) => value !== null && value !== undefined)
  return { ...known, ...Object.fromEntries(reported) }
}

/**
 * Normalises usage. `input_tokens` excludes cached tokens here, and the sum includes them. A compaction is a separate call that the totals leave out.
 * Tokens of an advisor model have another price and are not counted (they are in `raw`).
 *
 * @param searches web searches in the answer so far: the upstream counts them at its end
 */
export function decodeUsage(raw: Json, priceFactor = 1, searches = 0): Usage {
  const compactions = (Array.isArray(raw['iterations']) ? raw['iterations'] : []).filter(
    (each): each is Json => isObject(each) && each['type'] === 'compaction',
  )
  const sum = (read: (usage: Json) => number): number => [raw, ...compactions].reduce((total, usage) => total + read(usage), 0)
  const written = (usage: Json): number => {
    const creation = object(usage['cache_creation'])
    return Math.max(
      number(usage['cache_creation_input_tokens']),
      usage === raw ? 0 : number(creation['ephemeral_5m_input_tokens']) + written1h(usage),
    )
  }
  const cached = sum((usage) => number(usage['cache_read_input_tokens']))
  const cacheWrite = sum(written)
  return createUsage({
    inputTokens: sum((usage) => number(usage['input_tokens'])) + cached + cacheWrite,
    cachedTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: sum(written1h),
    outputTokens: sum((usage) => number(usage['output_tokens'])),
    reasoningTokens: number(object(raw['output_tokens_details'])['thinking_tokens']),
    priceFactor,
    serverToolUse: serverTools(raw['server_tool_use']) ?? (searches > 0 ? { web_search: searches } : undefined),
    raw,
  })
}

const written1h = (usage: Json): number => number(object(usage['cache_creation'])['ephemeral_1h_input_tokens'])

/** `web_search_requests: 2` means two uses of `web_search`. */
function serverTools(value: unknown): Usage['serverToolUse'] | undefined {
  const counts: Record<string, number> = {}
  for (const [field, uses] of Object.entries(object(value))) if (number(uses) > 0) counts[field.replace(/_requests$/, '')] = number(uses)
  return Object.keys(counts).length > 0 ? counts : undefined
}

/** The tier that served the call, in the contract's terms. */
export function serviceTierOf(usage: Json | undefined): string | undefined {
  const tier = usage?.['service_tier']
  if (typeof tier !== 'string' || tier === '') return undefined
  return tier === 'standard' ? 'default' : tier
}

/** The multiple of the list price that the vendor charges for this usage, as declared. */
export function priceFactorOf(usage: Json, { options, upstreamModel }: Pick<MessagesTarget, 'options' | 'upstreamModel'>): number {
  const decided = new Set<string>()
  let product = 1
  for (const { match, field, value, factor } of options.surcharges) {
    if (decided.has(field) || usage[field] !== value || (match !== undefined && !compiled(match).test(upstreamModel))) continue
    decided.add(field)
    product *= factor
  }
  return product
}

/** The same for a request's options: answers report what was used in the same terms. */
export const priceFactorAsked = (request: object, target: Pick<MessagesTarget, 'options' | 'upstreamModel'>): number =>
  priceFactorOf(Object.fromEntries(Object.entries(request).filter(([field]) => target.options.pass_through.includes(field))), target)

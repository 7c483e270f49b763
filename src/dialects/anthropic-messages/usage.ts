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
 * Usage as it comes in: counts at the start, and cumulative ones at the end that go over them. A report that counts no input at all erases
 * none; in one that does, zeros are counts (the input of an answer with a compaction is told anew).
 */
export function overlayUsage(before: Json | undefined, update: unknown): Json | undefined {
  if (!isObject(update)) return before
  const known = before ?? {}
  if (!INPUT_COUNTS.some((field) => number(update[field]) > 0)) return overlayCounts(known, update)
  const told = Object.entries(update).filter(([, value]) => value !== null && value !== undefined)
  return { ...known, ...Object.fromEntries(told) }
}

/**
 * The normal form. Cached tokens are not part of `input_tokens` here, they are in the sum. A compaction is a call of its own that the
 * totals leave out; what an advisor model used has another price and stays out of the counts (it is in `raw`).
 */
export function decodeUsage(raw: Json, priceFactor = 1): Usage {
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
    serverToolUse: serverTools(raw['server_tool_use']),
    raw,
  })
}

const written1h = (usage: Json): number => number(object(usage['cache_creation'])['ephemeral_1h_input_tokens'])

/** `web_search_requests: 2` is two uses of `web_search`. */
function serverTools(value: unknown): Usage['serverToolUse'] | undefined {
  const counts: Record<string, number> = {}
  for (const [field, uses] of Object.entries(object(value))) if (number(uses) > 0) counts[field.replace(/_requests$/, '')] = number(uses)
  return Object.keys(counts).length > 0 ? counts : undefined
}

/** The tier that served, in the contract's words. */
export function serviceTierOf(usage: Json | undefined): string | undefined {
  const tier = usage?.['service_tier']
  if (typeof tier !== 'string' || tier === '') return undefined
  return tier === 'standard' ? 'default' : tier
}

/** How many times the list price this usage is charged at, as its vendor declares. */
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

/** The same for what a request asks for: answers say what they were, in the words in which it was asked for. */
export const priceFactorAsked = (request: object, target: Pick<MessagesTarget, 'options' | 'upstreamModel'>): number =>
  priceFactorOf(Object.fromEntries(Object.entries(request).filter(([field]) => target.options.pass_through.includes(field))), target)

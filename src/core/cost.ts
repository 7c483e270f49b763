import type { Cost } from './generation.ts'

export const NO_COST: Cost = { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'catalog' }

/** Sums the money of several upstream calls of one answer. One part of unknown price makes the sum a lower bound, hence `unknown`. */
export function addCost(a: Cost, b: Cost): Cost {
  const extras: Record<string, number> = { ...a.extras }
  for (const [item, value] of Object.entries(b.extras ?? {})) extras[item] = (extras[item] ?? 0) + value
  return {
    total: a.total + b.total,
    input: a.input + b.input,
    output: a.output + b.output,
    cacheDiscount: a.cacheDiscount + b.cacheDiscount,
    ...(Object.keys(extras).length === 0 ? {} : { extras }),
    source:
      a.source === 'unknown' || b.source === 'unknown' ? 'unknown' : a.source === 'upstream' || b.source === 'upstream' ? 'upstream' : 'catalog',
  }
}

/** The same money plus what a tool or plugin cost on top, under its name. */
export function withExtra(cost: Cost, item: string, usd: number): Cost {
  if (usd === 0) return cost
  return { ...cost, total: cost.total + usd, extras: { ...cost.extras, [item]: (cost.extras?.[item] ?? 0) + usd } }
}

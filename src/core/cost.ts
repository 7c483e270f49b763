import type { Cost } from './generation.ts'

export const NO_COST: Cost = { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'catalog' }

/** Sums the costs of several upstream calls of one answer. If the price of one part is unknown, the sum is only a lower bound, hence `unknown`. */
export function addCost(a: Cost, b: Cost): Cost {
  const byok = (a.byok ?? 0) + (b.byok ?? 0)
  const extras: Record<string, number> = { ...a.extras }
  for (const [item, value] of Object.entries(b.extras ?? {})) extras[item] = (extras[item] ?? 0) + value
  return {
    total: a.total + b.total,
    input: a.input + b.input,
    output: a.output + b.output,
    cacheDiscount: a.cacheDiscount + b.cacheDiscount,
    ...(Object.keys(extras).length === 0 ? {} : { extras }),
    ...(byok === 0 ? {} : { byok }),
    source:
      a.source === 'unknown' || b.source === 'unknown' ? 'unknown' : a.source === 'upstream' || b.source === 'upstream' ? 'upstream' : 'catalog',
  }
}

/**
 * Adds the cost of a tool or plugin under its name. `byok` is the part that was charged to the caller's own provider accounts. `source` is `unknown` if
 * it asked a model whose price nobody knows: then the sum is only a lower bound, too.
 */
export function withExtra(cost: Cost, item: string, usd: number, byok = 0, source: Cost['source'] = 'catalog'): Cost {
  if (source === 'unknown' && cost.source !== 'unknown') return withExtra({ ...cost, source }, item, usd, byok)
  if (usd === 0) return cost
  const own = (cost.byok ?? 0) + byok
  return {
    ...cost,
    total: cost.total + usd,
    extras: { ...cost.extras, [item]: (cost.extras?.[item] ?? 0) + usd },
    ...(own === 0 ? {} : { byok: own }),
  }
}

/** Marks the whole cost as charged to the caller's own provider account. */
export const byOwnKey = (cost: Cost): Cost => (cost.total === 0 ? cost : { ...cost, byok: cost.total })

/** From here on a number has no twelve decimals. */
const TWELVE_DECIMALS_BELOW = 1_000
/** Every decimal fraction of so many digits can be told from its neighbours. */
const DIGITS = 15

/**
 * An amount for display, USD. Sums of binary fractions have rounding errors in the last digits. The cheapest token costs about 1e-9, so twelve
 * decimals lose nothing; large sums have fifteen digits. Amounts that are added up later are not rounded.
 */
export const roundUsd = (usd: number): number =>
  Math.abs(usd) < TWELVE_DECIMALS_BELOW ? Math.round(usd * 1e12) / 1e12 : Number(usd.toPrecision(DIGITS))

/** `all - taken` for display, USD. It has no more decimals than the larger of both can be shown with: those behind are noise of its last bits. */
export function roundedRest(all: number, taken: number): number {
  const larger = Math.max(Math.abs(all), Math.abs(taken))
  return larger < TWELVE_DECIMALS_BELOW ? roundUsd(all - taken) : Number((all - taken).toFixed(Math.max(0, DIGITS - digitsBeforePoint(larger))))
}
const digitsBeforePoint = (usd: number): number => Math.floor(Math.log10(usd)) + 1

/** A cost for display. */
export function roundCost(cost: Cost): Cost {
  const { extras, byok } = cost
  return {
    ...cost,
    total: roundUsd(cost.total),
    input: roundUsd(cost.input),
    output: roundUsd(cost.output),
    cacheDiscount: roundUsd(cost.cacheDiscount),
    ...(extras === undefined ? {} : { extras: Object.fromEntries(Object.entries(extras).map(([item, usd]) => [item, roundUsd(usd)])) }),
    ...(byok === undefined ? {} : { byok: roundUsd(byok) }),
  }
}

/** The part that the operator of the gateway pays. */
export const gatewayShare = ({ total, byok = 0 }: Cost): number => total - byok

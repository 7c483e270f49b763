import type { SourcePart } from '../shared/source-part.ts'

/** LiteLLM's prices per token, and their names here. */
const PRICES: { readonly [price: string]: string } = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_image_token: 'output_image',
}
/** Prices that may differ for long prompts. */
const TIERED = new Set(['input', 'output', 'cache_read', 'cache_write'])
const ABOVE = /^(.+)_above_(\d+)k_tokens$/

type Prices = { readonly [price: string]: number }

/** The operator's prices in USD per million tokens; undefined if there are none. The first of `places` that states a price wins. */
export function pricingOf(places: readonly SourcePart[]): { readonly [price: string]: unknown } | undefined {
  const prices: { [price: string]: number } = {}
  const tiers = new Map<number, { [price: string]: number }>()
  for (const part of places.flatMap((place) => place.members())) {
    const [, base, thousands] = ABOVE.exec(part.key) ?? []
    const name = PRICES[base ?? part.key]
    if (name === undefined || (base !== undefined && !TIERED.has(name))) continue
    const price = part.number()
    if (price === undefined || price < 0) continue
    const from = Number(thousands ?? 0) * 1_000
    const into = base === undefined ? prices : (tiers.get(from) ?? {})
    into[name] ??= perMillion(price)
    if (base !== undefined) tiers.set(from, into)
  }
  return tiers.size === 0
    ? Object.keys(prices).length === 0
      ? undefined
      : prices
    : { ...prices, tiers: [...tiers].toSorted(byThreshold).map(toTier) }
}

const byThreshold = ([a]: readonly [number, Prices], [b]: readonly [number, Prices]): number => a - b
// "Above" a threshold means from the next token on.
const toTier = ([from, prices]: readonly [number, Prices]): { readonly [key: string]: number } => ({ from_input_tokens: from + 1, ...prices })

/** Prices of one token have no exact binary representation, so the product is rounded. */
const perMillion = (price: number): number => Number((price * 1_000_000).toPrecision(12))

import type { Answer } from '../../api/client.ts'
import { count, NOTHING } from '../../lib/format.ts'

export type Pricing = Answer<'GET /api/v1/models'>['data'][number]['pricing']

/** More digits than any price has: what multiplying leaves behind them is no part of it. */
const DIGITS = 12

/** USD per million tokens, of a decimal in USD per token. Undefined where there is none or it is not known, which the API writes as -1. */
export function perMillion(perToken: string | undefined): number | undefined {
  const price = perToken === undefined || perToken === '' ? Number.NaN : Number(perToken)
  return price >= 0 ? Number((price * 1e6).toPrecision(DIGITS)) : undefined
}

/** A price as its vendor lists it: all of its digits, cents at least, as in `$2.50`, `$0.075`. */
export function priceShown(usd: number | undefined): string {
  if (usd === undefined) return NOTHING
  if (usd === 0) return '$0'
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 9 })}`
}

export interface PriceLine {
  readonly name: string
  readonly price: string
}

const TOKENS = [
  ['prompt', 'Input'],
  ['completion', 'Output'],
  ['input_cache_read', 'Cache read'],
  ['input_cache_write', 'Cache write'],
  ['input_cache_write_1h', 'Cache write, 1 h'],
  ['audio', 'Audio input'],
  ['image_output', 'Image output'],
] as const
const UNITS = [
  ['request', 'Request'],
  ['image', 'Image'],
  ['web_search', 'Web search'],
] as const

/** Everything an endpoint charges for; input and output always, as unknown where they are not known. */
export function priceLines(pricing: Pricing): readonly PriceLine[] {
  const tokens = TOKENS.filter(([field]) => pricing[field] !== undefined).map(([field, name]) => {
    const price = perMillion(pricing[field])
    return { name, price: price === undefined ? 'not known' : `${priceShown(price)} per million` }
  })
  const units = UNITS.flatMap(([field, name]) => {
    const price = Number(pricing[field])
    return price > 0 ? [{ name, price: `${priceShown(price)} each` }] : []
  })
  return [...tokens, ...units, ...(pricing.overrides ?? []).map(overrideLine)]
}

type Override = NonNullable<Pricing['overrides']>[number]

/** Prices of long prompts and of hours of the day. */
function overrideLine(override: Override): PriceLine {
  const when = [
    override.min_prompt_tokens === undefined ? '' : `over ${count(override.min_prompt_tokens)} tokens`,
    override.utc_start === undefined || override.utc_end === undefined ? '' : `${clock(override.utc_start)} to ${clock(override.utc_end)} UTC`,
  ].filter((part) => part !== '')
  const prices = TOKENS.flatMap(([field, name]) => {
    const price = field in override ? perMillion(override[field as keyof Override] as string | undefined) : undefined
    return price === undefined ? [] : [`${name.toLowerCase()} ${priceShown(price)}`]
  })
  return { name: sentence(when.join(', ') || 'Otherwise'), price: prices.join(', ') }
}

/** 1630 is half past four in the afternoon. */
const clock = (time: number): string => `${String(Math.floor(time / 100)).padStart(2, '0')}:${String(time % 100).padStart(2, '0')}`
const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

import type { Answer } from '../../api/client.ts'
import { count } from '../../lib/format.ts'
import { perMillion, priceShown } from '../../lib/price.ts'

export type Pricing = Answer<'GET /api/v1/models'>['data'][number]['pricing']

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

/** Everything that an endpoint charges for; input and output always, even if unknown. */
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

/** A price for long prompts or for hours of the day. */
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

import { roundUsd } from '../core/cost.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { isPerRequest } from '../core/pricing.ts'
import { modalityBit, priceAt } from './columns.ts'
import type { Demand, MaxPrice } from './prefer.ts'

type Kind = keyof MaxPrice

const AUDIO = modalityBit('audio')

/** Whether an endpoint would charge more for the call than `provider.max_price` allows, or an unknown price. */
export function exceedsMaxPrice(kind: Kind, demand: Demand, endpoint: Endpoint): boolean {
  const limit = demand.maxPrice![kind]
  return limit !== Infinity && !(priceFor(kind, demand, endpoint) <= limit)
}

/** What an endpoint charges for this call, USD; NaN if it is unknown. A price per request or image that is not listed is not charged. */
function priceFor(kind: Kind, demand: Demand, endpoint: Endpoint): number {
  const { pricing } = endpoint
  if (kind === 'request' || kind === 'image') return pricing[kind] ?? 0
  const { input, output } = pricing.tiers === undefined && pricing.windows === undefined ? pricing : priceAt(pricing, demand.inputTokens, demand.now)
  // An unknown token price may be any price, unless requests are priced instead.
  const unlisted = isPerRequest(pricing, { input, output }) ? 0 : NaN
  const times = demand.priceMultiple(endpoint)
  if (kind === 'completion') return multiplied(output ?? unlisted, times)
  if (kind === 'prompt') return multiplied(input ?? unlisted, times)
  // Audio without a price of its own costs what text does.
  return multiplied(pricing.inputAudio ?? ((demand.inputs & AUDIO) === 0 ? 0 : (input ?? unlisted)), times)
}

const multiplied = (price: number, times: number): number => (times === 1 ? price : roundUsd(price * times))

/** The limit and the endpoint's own price. */
export const describeMaxPrice = (kind: Kind, demand: Demand, endpoint: Endpoint): string =>
  `provider.max_price.${kind} is ${demand.maxPrice?.[kind]} USD and its price is ${usd(priceFor(kind, demand, endpoint))}`

const usd = (price: number): string => (Number.isNaN(price) ? 'unknown' : `${price} USD`)

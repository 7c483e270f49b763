/** Prices. Separate from endpoint.ts, because providers use them, and endpoints use providers. */

/** Prices per million tokens that may differ by tier or hour. */
interface TokenPrices {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly cacheWrite1h?: number
}

/** Prices from this number of input tokens on; the highest threshold reached applies. */
export interface PriceTier extends TokenPrices {
  readonly fromInputTokens: number
}

/** Prices for a part of the day, in seconds since midnight UTC. `to` is exclusive, and less than `from` if the window spans midnight. */
export interface PriceWindow extends TokenPrices {
  readonly from: number
  readonly to: number
  /** Valid only from this time on, in milliseconds. A price announced for later applies all day, from midnight to midnight. */
  readonly since?: number
  readonly inputAudio?: number
  readonly cacheReadAudio?: number
  readonly inputImage?: number
  readonly outputImage?: number
  /** With `since`: the tiers of the announced price list, which replace the earlier ones. */
  readonly tiers?: readonly PriceTier[]
}

/** USD per million tokens; `request`, `image` and `webSearch` in USD per unit. Absent means unknown, not free. */
export interface Pricing extends TokenPrices {
  readonly inputAudio?: number
  /** Audio that was read from a cache; if absent, the general cache-read price applies. */
  readonly cacheReadAudio?: number
  /** Image tokens in the prompt; if absent, the input price applies. */
  readonly inputImage?: number
  /** Image tokens in the answer; if absent, the output price applies. */
  readonly outputImage?: number
  readonly request?: number
  readonly image?: number
  readonly webSearch?: number
  readonly tiers?: readonly PriceTier[]
  /**
   * The first window that contains the time of the call overrides the prices above. Tiers override hourly windows. When announced prices begin, they
   * also replace the tiers.
   */
  readonly windows?: readonly PriceWindow[]
}

/** Whether only the request itself is charged, so that its tokens have no price and need none. */
export const isPerRequest = ({ request }: Pick<Pricing, 'request'>, { input, output }: Pick<TokenPrices, 'input' | 'output'>): boolean =>
  request !== undefined && input === undefined && output === undefined

/** Whether searches of the vendor's own have a price. Who charges by the request searches for it. */
export const isSearchPriced = ({ webSearch, request }: Pick<Pricing, 'webSearch' | 'request'>): boolean =>
  webSearch !== undefined || request !== undefined

const DAY_SECONDS = 86_400

/** A window of whole days, for prices announced for later. */
export const wholeDays = (since: number): Pick<PriceWindow, 'from' | 'to' | 'since'> => ({ from: 0, to: DAY_SECONDS, since })

/** The window that applies at this time (milliseconds). */
export function windowAt({ windows }: Pick<Pricing, 'windows'>, at: number): PriceWindow | undefined {
  if (windows === undefined) return undefined
  const second = Math.floor(at / 1_000) % DAY_SECONDS
  return windows.find(
    ({ from, to, since }) => (since === undefined || at >= since) && (from <= to ? second >= from && second < to : second >= from || second < to),
  )
}

/** The announced price list that applies at this time (milliseconds). It replaces the previous list with its tiers, but not the prices per unit. */
export const announcedAt = ({ windows }: Pick<Pricing, 'windows'>, at: number): PriceWindow | undefined =>
  windows?.find(({ since }) => since !== undefined && at >= since)

/** The prices on this day (milliseconds). Announced prices are included only if they already apply. */
export function pricingOn(pricing: Pricing, at: number): Pricing {
  const { windows } = pricing
  if (windows?.every(({ since }) => since === undefined) !== false) return pricing
  const announced = announcedAt(pricing, at)
  const ahead = (announced === undefined ? windows : windows.slice(0, windows.indexOf(announced))).filter(({ since }) => since === undefined)
  const byHour = ahead.length === 0 ? {} : { windows: ahead }
  if (announced === undefined) {
    const { windows: _windows, ...base } = pricing
    return { ...base, ...byHour }
  }
  const { from: _from, to: _to, since: _since, ...prices } = announced
  return { ...unitPrices(pricing), ...prices, ...byHour }
}

const unitPrices = ({ request, image, webSearch }: Pricing): Pricing => ({
  ...(request === undefined ? {} : { request }),
  ...(image === undefined ? {} : { image }),
  ...(webSearch === undefined ? {} : { webSearch }),
})

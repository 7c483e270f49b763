/** Prices: apart from endpoint.ts because providers speak of them and endpoints speak of providers. */

/** Prices per million tokens that may differ by tier or hour. */
interface TokenPrices {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly cacheWrite1h?: number
}

/** Prices that apply from this many input tokens on; the highest threshold reached wins. */
export interface PriceTier extends TokenPrices {
  readonly fromInputTokens: number
}

/** Prices for a part of the day, in seconds since midnight UTC; `to` is exclusive, and less than `from` when the window spans midnight. */
export interface PriceWindow extends TokenPrices {
  readonly from: number
  readonly to: number
  /** Only from that moment on, milliseconds: a price announced for later stands from midnight to midnight. */
  readonly since?: number
  readonly inputAudio?: number
  readonly cacheReadAudio?: number
  readonly outputImage?: number
  /** With `since`: the tiers of the list of prices announced, in place of those before it. */
  readonly tiers?: readonly PriceTier[]
}

/** USD per million tokens; `request`, `image` and `webSearch` in USD per unit. Absent means unknown, not free. */
export interface Pricing extends TokenPrices {
  readonly inputAudio?: number
  /** Audio that was read from a cache; without, it costs what anything read from it costs. */
  readonly cacheReadAudio?: number
  /** Tokens of pictures in the answer; without, they are output like any other. */
  readonly outputImage?: number
  readonly request?: number
  readonly image?: number
  readonly webSearch?: number
  readonly tiers?: readonly PriceTier[]
  /** The first window that holds the time of the call wins over the prices above; tiers win over windows by the hour, and end where announced prices begin. */
  readonly windows?: readonly PriceWindow[]
}

/** Only the request itself is charged: its tokens have no price and need none. */
export const isPerRequest = ({ request }: Pick<Pricing, 'request'>, { input, output }: Pick<TokenPrices, 'input' | 'output'>): boolean =>
  request !== undefined && input === undefined && output === undefined

const DAY_SECONDS = 86_400

/** A window that stands for whole days: prices announced for later. */
export const wholeDays = (since: number): Pick<PriceWindow, 'from' | 'to' | 'since'> => ({ from: 0, to: DAY_SECONDS, since })

/** The window in force at this time (milliseconds). */
export function windowAt({ windows }: Pick<Pricing, 'windows'>, at: number): PriceWindow | undefined {
  if (windows === undefined) return undefined
  const second = Math.floor(at / 1_000) % DAY_SECONDS
  return windows.find(
    ({ from, to, since }) => (since === undefined || at >= since) && (from <= to ? second >= from && second < to : second >= from || second < to),
  )
}

/** The list of prices announced that is in force at this time (milliseconds): it ends the one before it, tiers and all, and says nothing of units. */
export const announcedAt = ({ windows }: Pick<Pricing, 'windows'>, at: number): PriceWindow | undefined =>
  windows?.find(({ since }) => since !== undefined && at >= since)

/** The prices as they stand on this day (milliseconds): what was announced for later is in them, or not yet. */
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

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
}

/** USD per million tokens; `request`, `image` and `webSearch` in USD per unit. Absent means unknown, not free. */
export interface Pricing extends TokenPrices {
  readonly inputAudio?: number
  /** Tokens of pictures in the answer; without, they are output like any other. */
  readonly outputImage?: number
  readonly request?: number
  readonly image?: number
  readonly webSearch?: number
  readonly tiers?: readonly PriceTier[]
  /** The first window that holds the time of the call wins over the prices above; tiers win over windows. */
  readonly windows?: readonly PriceWindow[]
}

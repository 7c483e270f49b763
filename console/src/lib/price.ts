import { NOTHING } from './format.ts'

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

import { NOTHING } from './format.ts'

/** More digits than any price has: further ones are rounding errors of the multiplication. */
const DIGITS = 12

/** USD per million tokens, from a decimal in USD per token. Undefined if there is none or it is unknown, which the API writes as -1. */
export function perMillion(perToken: string | undefined): number | undefined {
  const price = perToken === undefined || perToken === '' ? Number.NaN : Number(perToken)
  return price >= 0 ? Number((price * 1e6).toPrecision(DIGITS)) : undefined
}

/** A price as its vendor lists it: with all digits, and at least cents, as in `$2.50`, `$0.075`. */
export function priceShown(usd: number | undefined): string {
  if (usd === undefined) return NOTHING
  if (usd === 0) return '$0'
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 9 })}`
}

/** The public contract has prices as decimal strings in USD per token; internally they are numbers in USD per million tokens. */

const MILLION_DIGITS = 6

/** Converts `1.25` (per million) to `0.00000125` (per token) exactly, by moving the decimal point instead of dividing. */
export function perToken(usdPerMillion: number): string {
  return shiftLeft(toPlain(usdPerMillion), MILLION_DIGITS)
}

/** A price per unit (request, image, search) as a decimal string. */
export function perUnit(usd: number): string {
  return shiftLeft(toPlain(usd), 0)
}

/** Digits without exponent, at most 20 decimals. */
function toPlain(value: number): string {
  const text = String(value)
  return /e/.test(text) ? value.toFixed(20) : text
}

function shiftLeft(text: string, places: number): string {
  const [integerPart = '0', fraction = ''] = text.split('.')
  const digits = integerPart.padStart(places + 1, '0')
  const cut = digits.length - places
  const left = digits.slice(0, cut).replace(/^0+(?=\d)/, '')
  const right = (digits.slice(cut) + fraction).replace(/0+$/, '')
  return right === '' ? left : `${left}.${right}`
}

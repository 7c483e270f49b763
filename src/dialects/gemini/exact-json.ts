import { isObject, tryParseJson } from '../shared/json.ts'

/** Numbers a double may change or that would be spelled differently: long ones, fractions, exponents. */
const DELICATE_NUMBER = /\d{16}|\d\.\d|\d[eE][+-]?\d|-0/

interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/** The parts of JSON that the type library does not know yet (source text access, in every Node this runs on). */
const exact = JSON as unknown as ExactJson

/**
 * JSON whose numbers are written back as they came: arguments of tools are objects in this format and text in the contract, and an
 * identifier of twenty digits must survive the way. Undefined for text that is no JSON. The result is only fit to be written again.
 */
export function parseExactJson(text: string): unknown {
  if (!DELICATE_NUMBER.test(text)) return tryParseJson(text)
  try {
    return exact.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

/** An object of `parseExactJson`, not one of its raw numbers. */
export function isExactObject(value: unknown): value is { readonly [key: string]: unknown } {
  return isObject(value) && Object.getPrototypeOf(value) !== null
}

/** The value of a number of `parseExactJson`, raw or not. */
export function exactNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isObject(value) && Object.getPrototypeOf(value) === null ? Number(value['rawJSON']) : undefined
}

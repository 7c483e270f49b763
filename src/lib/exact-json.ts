import { nestsTooDeep } from './json.ts'

/** Numbers that a double may change or spell differently: sixteen digits and more, fractions, exponents, a negative zero. */
export const FRAGILE_NUMBER = /\d{16}|\d\.\d|\d[eE][+-]?\d|-0/

interface SourceAwareJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/** The types of JSON with access to the source text of numbers, which the type library lacks. */
const sourceAware = JSON as unknown as SourceAwareJson

/**
 * Parses JSON so that JSON.stringify writes every number as it was in the source: tool arguments are text in some formats and objects in others, and a
 * long id must survive both conversions. Undefined for text that is not JSON or that nests too deep. The value is only meant to be serialized again.
 */
export function parseExact(text: string): unknown {
  try {
    if (nestsTooDeep(text)) return undefined
    if (!FRAGILE_NUMBER.test(text)) return JSON.parse(text)
    return sourceAware.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value) ? sourceAware.rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

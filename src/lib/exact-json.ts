import { nestsTooDeep } from './json.ts'

/** Numbers that a double may change or spell differently: sixteen digits and more, fractions, exponents, a negative zero. */
export const FRAGILE_NUMBER = /\d{16}|\d\.\d|\d[eE][+-]?\d|-0/

interface SourceAwareJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/** Access to the source text of numbers, which the type library does not know yet. */
const sourceAware = JSON as unknown as SourceAwareJson

/**
 * Parses JSON so that JSON.stringify writes every number back as it stood: arguments of tools are text in some formats and objects in
 * others, and a long id must survive both ways. Undefined for text that is no JSON, or nests too deep; the value is meant only to be written again.
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

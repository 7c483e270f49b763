/** Typed attributes in the order they were set, each key once: the form between a record and OTLP's JSON or protobuf. */
export type Attribute =
  | { readonly key: string; readonly kind: 'string'; readonly value: string }
  | { readonly key: string; readonly kind: 'int'; readonly value: number }
  | { readonly key: string; readonly kind: 'double'; readonly value: number }
  | { readonly key: string; readonly kind: 'bool'; readonly value: boolean }
  | { readonly key: string; readonly kind: 'strings'; readonly value: readonly string[] }

/** Setters skip undefined, null and NaN; the last value of a key wins. Texts over the limit are cut and flagged by `<key>.truncated`. */
export interface AttributeSet {
  string(key: string, value: string | null | undefined): AttributeSet
  /** A whole number; fractions are cut. */
  int(key: string, value: number | null | undefined): AttributeSet
  double(key: string, value: number | null | undefined): AttributeSet
  bool(key: string, value: boolean | null | undefined): AttributeSet
  strings(key: string, value: readonly string[] | null | undefined): AttributeSet
  /** A value as JSON text. */
  json(key: string, value: unknown): AttributeSet
  /** Any JSON value by its own type: whole numbers as int, lists of texts as such, objects as JSON text. */
  any(key: string, value: unknown): AttributeSet
  list(): readonly Attribute[]
}

export function createAttributes(maxChars = Number.POSITIVE_INFINITY): AttributeSet {
  const byKey = new Map<string, Attribute>()
  const isNumber = (value: number | null | undefined): value is number => typeof value === 'number' && Number.isFinite(value)
  const set: AttributeSet = {
    string(key, value) {
      if (value === undefined || value === null) return set
      if (value.length <= maxChars) byKey.set(key, { key, kind: 'string', value })
      else {
        byKey.set(key, { key, kind: 'string', value: cutText(value, maxChars) })
        set.bool(`${key}.truncated`, true)
      }
      return set
    },
    int(key, value) {
      if (isNumber(value)) byKey.set(key, { key, kind: 'int', value: Math.trunc(value) })
      return set
    },
    double(key, value) {
      if (isNumber(value)) byKey.set(key, { key, kind: 'double', value })
      return set
    },
    bool(key, value) {
      if (value !== undefined && value !== null) byKey.set(key, { key, kind: 'bool', value })
      return set
    },
    strings(key, value) {
      if (value !== undefined && value !== null && value.length > 0) byKey.set(key, { key, kind: 'strings', value })
      return set
    },
    json: (key, value) => (value === undefined || value === null ? set : set.string(key, JSON.stringify(value))),
    any(key, value) {
      if (typeof value === 'string') return set.string(key, value)
      if (typeof value === 'boolean') return set.bool(key, value)
      if (typeof value === 'number') return Number.isSafeInteger(value) ? set.int(key, value) : set.double(key, value)
      if (Array.isArray(value) && value.length > 0 && value.every((element) => typeof element === 'string')) return set.strings(key, value)
      return set.json(key, value)
    },
    list: () => [...byKey.values()],
  }
  return set
}

/** The first characters of a text, never half a surrogate pair. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars)
}

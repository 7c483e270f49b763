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
  return new Attributes(maxChars)
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number' && Number.isFinite(value)

class Attributes implements AttributeSet {
  readonly #byKey = new Map<string, Attribute>()
  readonly #maxChars: number

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  string(key: string, value: string | null | undefined): this {
    if (value === undefined || value === null) return this
    if (value.length <= this.#maxChars) this.#byKey.set(key, { key, kind: 'string', value })
    else {
      this.#byKey.set(key, { key, kind: 'string', value: cutText(value, this.#maxChars) })
      this.bool(`${key}.truncated`, true)
    }
    return this
  }

  int(key: string, value: number | null | undefined): this {
    if (isNumber(value)) this.#byKey.set(key, { key, kind: 'int', value: Math.trunc(value) })
    return this
  }

  double(key: string, value: number | null | undefined): this {
    if (isNumber(value)) this.#byKey.set(key, { key, kind: 'double', value })
    return this
  }

  bool(key: string, value: boolean | null | undefined): this {
    if (value !== undefined && value !== null) this.#byKey.set(key, { key, kind: 'bool', value })
    return this
  }

  strings(key: string, value: readonly string[] | null | undefined): this {
    if (value !== undefined && value !== null && value.length > 0) this.#byKey.set(key, { key, kind: 'strings', value })
    return this
  }

  json(key: string, value: unknown): this {
    return value === undefined || value === null ? this : this.string(key, JSON.stringify(value))
  }

  any(key: string, value: unknown): this {
    if (typeof value === 'string') return this.string(key, value)
    if (typeof value === 'boolean') return this.bool(key, value)
    if (typeof value === 'number') return Number.isSafeInteger(value) ? this.int(key, value) : this.double(key, value)
    if (Array.isArray(value) && value.length > 0 && value.every((element) => typeof element === 'string')) return this.strings(key, value)
    return this.json(key, value)
  }

  list(): readonly Attribute[] {
    return [...this.#byKey.values()]
  }
}

/** The first characters of a text, never half a surrogate pair. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars)
}

import { wellFormedJson } from '../../lib/json.ts'

/** Typed attributes in the order they were set, each key once: the form between a record and OTLP's JSON or protobuf. */
export type Attribute =
  | { readonly key: string; readonly kind: 'string'; readonly value: string }
  | { readonly key: string; readonly kind: 'int'; readonly value: number }
  | { readonly key: string; readonly kind: 'double'; readonly value: number }
  | { readonly key: string; readonly kind: 'bool'; readonly value: boolean }
  | { readonly key: string; readonly kind: 'strings'; readonly value: readonly string[] }

/** A platform's limits on one attribute; without a limit everything is kept. What is cut is flagged by `<key>.truncated`. */
export interface AttributeLimits {
  /** Characters of a text, also in lists. */
  readonly maxChars?: number | undefined
  /** Characters of a name. */
  readonly maxKeyChars?: number
  /** Texts in a list. */
  readonly maxEntries?: number
}

/** Setters ignore undefined, null and NaN; the last value of a key wins. What exceeds a limit is cut and flagged. */
export interface AttributeSet {
  string(key: string, value: string | null | undefined): AttributeSet
  /** An integer; fractions are cut. */
  int(key: string, value: number | null | undefined): AttributeSet
  double(key: string, value: number | null | undefined): AttributeSet
  bool(key: string, value: boolean | null | undefined): AttributeSet
  strings(key: string, value: readonly string[] | null | undefined): AttributeSet
  /** A value as JSON text. */
  json(key: string, value: unknown): AttributeSet
  /** Any JSON value by its type: integers as int, lists of texts as lists, objects as JSON text. */
  any(key: string, value: unknown): AttributeSet
  list(): readonly Attribute[]
}

export function createAttributes(limits: AttributeLimits = {}): AttributeSet {
  return new Attributes(limits)
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number' && Number.isFinite(value)
const FLAG = '.truncated'

class Attributes implements AttributeSet {
  readonly #byKey = new Map<string, Attribute>()
  readonly #maxChars: number
  readonly #maxKeyChars: number
  readonly #maxEntries: number

  constructor({ maxChars = Infinity, maxKeyChars = Infinity, maxEntries = Infinity }: AttributeLimits) {
    this.#maxChars = maxChars
    this.#maxKeyChars = maxKeyChars
    this.#maxEntries = maxEntries
  }

  string(key: string, value: string | null | undefined): this {
    if (value === undefined || value === null) return this
    if (value.length <= this.#maxChars) return this.#put({ key, kind: 'string', value })
    return this.#put({ key, kind: 'string', value: cutText(value, this.#maxChars) }, true)
  }

  int(key: string, value: number | null | undefined): this {
    return isNumber(value) ? this.#put({ key, kind: 'int', value: Math.trunc(value) }) : this
  }

  double(key: string, value: number | null | undefined): this {
    return isNumber(value) ? this.#put({ key, kind: 'double', value }) : this
  }

  bool(key: string, value: boolean | null | undefined): this {
    return value === undefined || value === null ? this : this.#put({ key, kind: 'bool', value })
  }

  strings(key: string, value: readonly string[] | null | undefined): this {
    if (value === undefined || value === null || value.length === 0) return this
    if (value.length <= this.#maxEntries && value.every((text) => text.length <= this.#maxChars)) return this.#put({ key, kind: 'strings', value })
    return this.#put({ key, kind: 'strings', value: value.slice(0, this.#maxEntries).map((text) => cutText(text, this.#maxChars)) }, true)
  }

  /** A shortened name may equal the name of another attribute, and then counts as the same. */
  #put(attribute: Attribute, isCut = false): this {
    const { key } = attribute
    const isShort = key.length <= this.#maxKeyChars
    if (isShort) this.#byKey.set(key, attribute)
    else {
      const cut = cutText(key, this.#maxKeyChars)
      this.#byKey.set(cut, { ...attribute, key: cut })
    }
    if (isShort && !isCut) return this
    const flag = `${cutText(key, this.#maxKeyChars - FLAG.length)}${FLAG}`
    this.#byKey.set(flag, { key: flag, kind: 'bool', value: true })
    return this
  }

  json(key: string, value: unknown): this {
    return value === undefined || value === null ? this : this.string(key, wellFormedJson(JSON.stringify(value)))
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

/** The first characters of a text, without splitting a surrogate pair. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars)
}

/** What follows the text of a recognized frame, its closing quote included: the same bytes except for parts that nobody reads. */
export interface TemplateTail {
  matches(data: string, from: number): boolean
}

/** Makes the tail of a frame; undefined if such a frame cannot be recognized. */
export type MakeTail = (after: string) => TemplateTail | undefined

/** A copy that does not refer to a larger string: slices of slices compare slowly, and would keep whole reads in memory. */
export function flat(text: string): string | undefined {
  const copy = Buffer.from(text).toString()
  return copy === text ? copy : undefined
}

/** Random padding that some servers append to each frame. */
const PADDING = /^([^]*"(?:obfuscation|p)"\s*:\s*")[A-Za-z0-9+/=_-]*("\s*\})$/

/** The same bytes, except for padding at the end. */
export const paddedTail: MakeTail = (after) => {
  // Without any padding the expression would try every quote.
  const padding = after.includes('"obfuscation"') || after.includes('"p"') ? PADDING.exec(after) : null
  const suffix = flat(padding?.[1] ?? after)
  if (suffix === undefined) return undefined
  return padding === null ? new ExactTail(suffix) : new PaddedTail(suffix, padding[2]!)
}

class ExactTail implements TemplateTail {
  readonly #suffix: string

  constructor(suffix: string) {
    this.#suffix = suffix
  }

  matches(data: string, from: number): boolean {
    return data.length === from + this.#suffix.length && data.slice(from) === this.#suffix
  }
}

class PaddedTail implements TemplateTail {
  readonly #suffix: string
  readonly #ending: string

  constructor(suffix: string, ending: string) {
    this.#suffix = suffix
    this.#ending = ending
  }

  matches(data: string, from: number): boolean {
    const rest = from + this.#suffix.length
    const to = data.length - this.#ending.length
    if (to < rest || data.slice(from, rest) !== this.#suffix || data.slice(to) !== this.#ending) return false
    for (let at = rest; at < to; at++) if (!isPadding(data.charCodeAt(at))) return false
    return true
  }
}

/** Anything that needs no escape: a quote or a backslash would end the padding or begin something else. */
const isPadding = (code: number): boolean => code >= 32 && code !== 34 && code !== 92 && (code < 0xd800 || code > 0xdfff)

const SPACE = 32
const CLOSING_BRACE = 125

/** The same bytes; if they are closing braces, with any blanks between them, which some servers add as padding. */
export const bracesTail: MakeTail = (after) => {
  const suffix = flat(after)
  if (suffix === undefined) return undefined
  return /^"[ }]*$/.test(suffix) ? new BracesTail(suffix.slice(1).replaceAll(' ', '').length) : new ExactTail(suffix)
}

class BracesTail implements TemplateTail {
  readonly #braces: number

  constructor(braces: number) {
    this.#braces = braces
  }

  matches(data: string, from: number): boolean {
    let braces = 0
    for (let at = from + 1; at < data.length; at++) {
      const code = data.charCodeAt(at)
      if (code === CLOSING_BRACE) braces++
      else if (code !== SPACE) return false
    }
    return braces === this.#braces
  }
}

const MAX_NUMBERS = 64
const ZERO = 48
/** Digits of integers; anything longer is no count. */
const MAX_DIGITS = 12

/** The same bytes, except for counts of tokens, which grow with every frame. */
export const countsTail: MakeTail = (after) => {
  const pieces = numberless(after)
  return pieces === undefined ? undefined : new CountsTail(pieces)
}

class CountsTail implements TemplateTail {
  readonly #pieces: readonly string[]

  constructor(pieces: readonly string[]) {
    this.#pieces = pieces
  }

  matches(data: string, from: number): boolean {
    const pieces = this.#pieces
    let at = from
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index]!
      if (index > 0) {
        const digits = at
        while (at - digits < MAX_DIGITS && isDigit(data.charCodeAt(at))) at++
        if (at === digits || (at > digits + 1 && data.charCodeAt(digits) === ZERO)) return false
      }
      const end = at + piece.length
      if (data.slice(at, end) !== piece) return false
      at = end
    }
    return at === data.length
  }
}

const isDigit = (code: number): boolean => code >= ZERO && code <= ZERO + 9

/** Splits at the counts of tokens; other numbers stay, because they may matter. Undefined if there are too many. */
function numberless(text: string): string[] | undefined {
  const pieces: string[] = []
  let from = 0
  for (const match of text.matchAll(/[tT]okenCount"\s*:\s*(\d{1,12})(?=[,}\s])/g)) {
    const start = match.index + match[0].length - match[1]!.length
    const piece = flat(text.slice(from, start))
    if (piece === undefined || pieces.length >= MAX_NUMBERS) return undefined
    pieces.push(piece)
    from = start + match[1]!.length
  }
  const last = flat(text.slice(from))
  return last === undefined ? undefined : [...pieces, last]
}

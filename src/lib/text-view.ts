/** A text as a reader perceives it, with a mapping to the original text. */
export interface TextView {
  readonly text: string
  /** The part of the original that corresponds to `[start, end)` of the view. */
  original(start: number, end: number): { readonly start: number; readonly end: number }
}

/** The text itself, unchanged. */
export const plainView = (text: string): TextView => ({ text, original: (start, end) => ({ start, end }) })

class ViewBuilder {
  #text = ''
  /** The start and end of each code unit of the view in the original. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  add(piece: string, start: number, end: number): void {
    for (let i = 0; i < piece.length; i++) {
      this.#starts.push(start)
      this.#ends.push(end)
    }
    this.#text += piece
  }

  /** Adds a part that is the same in the view. */
  copy(part: string, start: number): void {
    for (let i = start; i < start + part.length; i++) {
      this.#starts.push(i)
      this.#ends.push(i + 1)
    }
    this.#text += part
  }

  build(): TextView {
    const starts = this.#starts
    const ends = this.#ends
    return {
      text: this.#text,
      original: (start, end) => (end <= start ? { start: 0, end: 0 } : { start: starts[start]!, end: ends[end - 1]! }),
    }
  }
}

const ESCAPES = /%(?:[2-7c-f][0-9a-f]|0[9ad])|&#?[0-9a-z]{2,8};|\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|["/\\bfnrt])/i
/** Escapes that may stand for letters of other scripts. */
const FOREIGN_ESCAPE = /%[c-f]|&#|\\u/i
// oxlint-disable-next-line no-control-regex -- everything beyond ASCII
const BEYOND_ASCII = /[^\x00-\x7f]/
/** One unit at a time: a run of plain ASCII up to a possible escape, a letter with its combining marks, an escape of some kind, or one character. */
const UNIT =
  // oxlint-disable-next-line no-control-regex -- they are units of their own, because they are left out
  /(?<plain>(?:[^%&\\\u0000-\u0008\u000e-\u001f\u007f-\u{10ffff}](?!\p{M}))+)|(?<marked>\p{L}\p{M}{1,64}|[0-9]\p{M}{1,64})|%(?<percent>[2-7][0-9a-fA-F]|0[9aAdD])|(?<bytes>%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3})|&#(?<decimal>[0-9]{2,6});|&#[xX](?<hex>[0-9a-fA-F]{2,5});|&(?<named>[a-zA-Z]{2,8});|\\[uU](?<unicode>[0-9a-fA-F]{4})|\\[xX](?<byte>[0-9a-fA-F]{2})|\\(?<short>["/\\bfnrt])|[^]/gu
const NAMED: { readonly [name: string]: string } = {
  commat: '@',
  period: '.',
  colon: ':',
  hyphen: '-',
  dash: '-',
  nbsp: ' ',
  amp: '&',
  lt: '<',
  gt: '>',
  num: '#',
  lowbar: '_',
  plus: '+',
}
/** The letter after a backslash in JSON text. */
const SHORT: { readonly [letter: string]: string } = { b: ' ', f: ' ', n: '\n', r: '\r', t: '\t' }
/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES: { readonly [letter: string]: string } = {
  а: 'a',
  в: 'b',
  с: 'c',
  е: 'e',
  һ: 'h',
  і: 'i',
  ј: 'j',
  к: 'k',
  м: 'm',
  о: 'o',
  р: 'p',
  ѕ: 's',
  т: 't',
  у: 'y',
  х: 'x',
  ԁ: 'd',
  ԛ: 'q',
  ԝ: 'w',
  А: 'A',
  В: 'B',
  С: 'C',
  Е: 'E',
  Н: 'H',
  І: 'I',
  К: 'K',
  М: 'M',
  О: 'O',
  Р: 'P',
  Ѕ: 'S',
  Т: 'T',
  Х: 'X',
  α: 'a',
  ε: 'e',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  ı: 'i',
  ɑ: 'a',
  ɡ: 'g',
}
/** Dashes that word processors write between digits. */
const DASHES: { readonly [dash: string]: string } = {
  '\u2010': '-',
  '\u2011': '-',
  '\u2012': '-',
  '\u2013': '-',
  '\u2014': '-',
  '\u2015': '-',
  '\u2212': '-',
}
/** A digit of any script (Arabic, Devanagari, Thai, ...): each has ten consecutive ones, starting with its zero. */
const DIGIT = /^\p{Nd}$/u
/** Control characters that end no line and are no gap. */
// oxlint-disable-next-line no-control-regex -- they are what it looks for
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/
/** Invisible characters: format characters (zero-width spaces, soft hyphens, direction marks, tags), variation selectors and control characters. */
// oxlint-disable-next-line no-control-regex -- the same
const HIDDEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\p{Cf}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}\u{115f}\u{1160}\u{3164}]/u
const ALIKE = new RegExp(`[${Object.keys(LOOKALIKES).join('')}]`)
const DASH = new RegExp(`[${Object.keys(DASHES).join('')}]`)
const MARKED = /[A-Za-z0-9]\p{M}/u
const FOREIGN_DIGIT = /[^\P{Nd}0-9]/u

/**
 * The text without disguises: compatibility forms (full-width, mathematical letters), invisible characters, letters that look like Latin ones, dashes,
 * digits of other scripts, and characters written as percent, HTML or JavaScript escapes. Undefined if there are none.
 */
export const unmaskText = (original: string): TextView | undefined => (mayBeDisguised(original) ? unmask(original, LOOKALIKES) : undefined)

/**
 * The same, but letters that look like Latin ones are unchanged, because words of their own scripts consist of them. Undefined if the result is the same
 * as of `unmaskText`.
 */
export function unmaskOwnScript(original: string): TextView | undefined {
  if (!(ALIKE.test(original) || FOREIGN_ESCAPE.test(original)) || !(ESCAPES.test(original) || isDressed(original))) return undefined
  const view = unmask(original, {})
  return view !== undefined && ALIKE.test(view.text) ? view : undefined
}

function unmask(original: string, lookalikes: typeof LOOKALIKES): TextView | undefined {
  const view = new ViewBuilder()
  let changed = false
  // Characters repeat, so each replacement is computed only once.
  const known = new Map<string, string>()
  for (const match of original.matchAll(UNIT)) {
    const [unit] = match
    if (match.groups!['plain'] !== undefined) {
      view.copy(unit, match.index)
      continue
    }
    let plain = known.get(unit)
    if (plain === undefined) {
      plain = plainOf(unit, match.groups!, lookalikes)
      known.set(unit, plain)
    }
    if (plain !== unit) changed = true
    view.add(plain, match.index, match.index + unit.length)
  }
  return changed ? view.build() : undefined
}

/** Cheap searches that rule out most texts. */
function mayBeDisguised(text: string): boolean {
  if (ESCAPES.test(text) || CONTROL.test(text)) return true
  return BEYOND_ASCII.test(text) && (ALIKE.test(text) || isDressed(text))
}

const isDressed = (text: string): boolean =>
  text.normalize('NFKC') !== text || [HIDDEN, DASH, MARKED, FOREIGN_DIGIT].some((disguise) => disguise.test(text))

interface Escaped {
  readonly [group: string]: string | undefined
}

function plainOf(unit: string, escaped: Escaped, lookalikes: typeof LOOKALIKES): string {
  const { percent, bytes, decimal, hex, named, unicode, byte, short, marked } = escaped
  if (short !== undefined) return SHORT[short] ?? short
  if (named !== undefined) return NAMED[named.toLowerCase()] ?? unit
  if (marked !== undefined) return composed(marked, lookalikes)
  if (bytes !== undefined) return decoded(bytes).replace(/./gsu, (char) => plainOf(char, {}, lookalikes))
  const code = percent ?? hex ?? unicode ?? byte
  const point = code === undefined ? (decimal === undefined ? undefined : Number(decimal)) : Number.parseInt(code, 16)
  const char = point === undefined ? unit : point <= 0x10ffff ? String.fromCodePoint(point) : unit
  if (HIDDEN.test(char)) return ''
  if (char.length === 1 && char <= '\x7f') return char
  return lookalikes[char] ?? DASHES[char] ?? (DIGIT.test(char) ? digitOf(char) : char.normalize('NFKC'))
}

/** A letter and its combining marks as a single character. Marks that do not form a character with an ASCII letter only strike it through, and are removed. */
function composed(marked: string, lookalikes: typeof LOOKALIKES): string {
  const [first = '', ...marks] = marked
  const base = lookalikes[first] ?? first
  const normalized = (base + marks.filter((mark) => !HIDDEN.test(mark)).join('')).normalize('NFKC')
  return base <= '\x7f' ? normalized.replace(/(?<=^.)\p{M}+$/u, '') : normalized
}

/** Decodes percent-encoded UTF-8; invalid escapes are kept. */
function decoded(bytes: string): string {
  try {
    return decodeURIComponent(bytes)
  } catch {
    return bytes
  }
}

function digitOf(char: string): string {
  const point = char.codePointAt(0)!
  let value = 0
  while (DIGIT.test(String.fromCodePoint(point - value - 1))) value++
  return String(value % 10)
}

/** Tag characters that stand for printable ASCII. Nothing shows them, and models read them. */
const TAG = /[\u{e0020}-\u{e007e}]/gu
const FIRST_TAG = 0xe0000

/** What is written in tag characters, without everything else. Undefined if nothing is. */
export function tagText(original: string): TextView | undefined {
  // The first half of each of them.
  if (!original.includes('\udb40')) return undefined
  const view = new ViewBuilder()
  let found = false
  for (const { 0: tag, index } of original.matchAll(TAG)) {
    found = true
    view.add(String.fromCharCode(tag.codePointAt(0)! - FIRST_TAG), index, index + tag.length)
  }
  return found ? view.build() : undefined
}

const SPACED_RUN = /(?<![A-Za-z])[A-Za-z](?:[ \t._*-]{1,3}[A-Za-z](?![A-Za-z])){4,}/g
const LETTER = /[A-Za-z]/

/** Joins runs of single letters into the words that they spell: `i g n o r e   t h i s` becomes `ignorethis`. Undefined if there are none. */
export function joinSpacedLetters(source: TextView): TextView | undefined {
  const view = new ViewBuilder()
  let last = 0
  const copy = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const { start, end } = source.original(i, i + 1)
      view.add(source.text[i]!, start, end)
    }
  }
  for (const { 0: run, index } of source.text.matchAll(SPACED_RUN)) {
    copy(last, index)
    for (let i = index; i < index + run.length; i++) if (LETTER.test(source.text[i]!)) copy(i, i + 1)
    last = index + run.length
  }
  if (last === 0) return undefined
  copy(last, source.text.length)
  return view.build()
}

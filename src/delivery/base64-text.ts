/**
 * Base64 as it occurs in texts: both alphabets, with line breaks and with the escapes of URLs and JSON. No function looks at a character twice,
 * because callers decide how long texts are.
 */

/** In JSON strings within JSON strings the number of backslashes doubles with each level. */
const MAX_BACKSLASHES = 16

export const UPPER = 1
export const LOWER = 2
export const DIGIT = 4
export const STANDARD = 8
export const URL_SAFE = 16

const CLASS = new Uint8Array(128)
CLASS.fill(DIGIT, 48, 58)
CLASS.fill(UPPER, 65, 91)
CLASS.fill(LOWER, 97, 123)
for (const code of [43, 47]) CLASS[code] = STANDARD
for (const code of [45, 95]) CLASS[code] = URL_SAFE

/** Zero for characters outside of the alphabet. */
const classOf = (code: number): number => (code < 128 ? CLASS[code]! : 0)
export const isBase64Char = (code: number): boolean => classOf(code) !== 0
export const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9
const isBreak = (code: number): boolean => code === 10 || code === 13
const BACKSLASH = 92
const PERCENT = 37
const PAD = 61

export interface Escape {
  readonly code: number
  readonly end: number
}

const PERCENT_ESCAPE = /%(?:25){0,3}([\da-f]{2})/iy
/** In nested JSON one backslash has become many. */
const BACKSLASHES = /(?:\\|%(?:25){0,3}5c){1,16}/iy
const HEX4 = /[\da-f]{4}/iy

function readPercent(text: string, at: number): Escape | undefined {
  PERCENT_ESCAPE.lastIndex = at
  const match = PERCENT_ESCAPE.exec(text)
  return match === null ? undefined : { code: Number.parseInt(match[1]!, 16), end: PERCENT_ESCAPE.lastIndex }
}

export const mayBeginEscape = (code: number): boolean => code === PERCENT || code === BACKSLASH

/** The character that `%2F`, `\/`, `\u002f`, `\n` and the like stand for. */
function readEscape(text: string, at: number): Escape | undefined {
  if (!mayBeginEscape(text.charCodeAt(at))) return undefined
  BACKSLASHES.lastIndex = at
  if (!BACKSLASHES.test(text)) return readPercent(text, at)
  const next = BACKSLASHES.lastIndex
  switch (text[next]) {
    case '/':
      return { code: 47, end: next + 1 }
    case 'n':
      return { code: 10, end: next + 1 }
    case 'r':
      return { code: 13, end: next + 1 }
    case 't':
      return { code: 9, end: next + 1 }
    case '\n':
    case '\r':
      // A backslash at the end of a line continues it in source code.
      return { code: 10, end: next + 1 }
    case '%':
      return readPercent(text, next)
    case 'u': {
      HEX4.lastIndex = next + 1
      const match = HEX4.exec(text)
      return match === null ? undefined : { code: Number.parseInt(match[0], 16), end: next + 5 }
    }
    default:
      return undefined
  }
}

/** Characters of the alphabet without a gap. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly chars: number
  /** Classes of its characters. */
  readonly seen: number
}

export function readLine(text: string, start: number): Line {
  let end = start
  let chars = 0
  let seen = 0
  for (;;) {
    const from = end
    for (; end < text.length; end++) {
      const kind = classOf(text.charCodeAt(end))
      if (kind === 0) break
      seen |= kind
    }
    chars += end - from
    const escape = readEscape(text, end)
    const kind = escape === undefined ? 0 : classOf(escape.code)
    if (escape === undefined || kind === 0) return { start, end, chars, seen }
    seen |= kind
    chars++
    end = escape.end
  }
}

/** Blanks and line breaks between lines. */
export function readGap(text: string, start: number): { readonly end: number; readonly broken: boolean } {
  let end = start
  let broken = false
  for (;;) {
    for (; isBlank(text.charCodeAt(end)); end++) broken ||= isBreak(text.charCodeAt(end))
    const escape = readEscape(text, end)
    if (escape === undefined || !isBlank(escape.code)) return { end, broken }
    broken ||= isBreak(escape.code)
    end = escape.end
  }
}

export function readPadding(text: string, start: number): { readonly end: number; readonly count: number } {
  let end = start
  for (let count = 0; ; count++) {
    const plain = text.charCodeAt(end)
    const escape = plain === PAD ? { code: PAD, end: end + 1 } : readEscape(text, end)
    if (count === 2 || escape?.code !== PAD) return { end, count }
    end = escape.end
  }
}

/** Its first characters, with escapes decoded. */
export function headOf(text: string, start: number, length: number): string {
  const plain = text.slice(start, start + length)
  if (!plain.includes('\\') && !plain.includes('%')) return plain
  let head = ''
  for (let at = start; head.length < length;) {
    const escape = readEscape(text, at)
    const code = escape?.code ?? text.charCodeAt(at)
    if (!isBase64Char(code)) break
    head += String.fromCharCode(code)
    at = escape?.end ?? at + 1
  }
  return head
}

/** The start of the escape that ends before `start` or reaches into the run there. */
function escapeBefore(text: string, start: number, least: number): number | undefined {
  let at = start - 1
  if (at < least) return undefined
  if (text.charCodeAt(at) === PERCENT) return at
  while (at >= least && at >= start - MAX_BACKSLASHES && text.charCodeAt(at) === BACKSLASH) at--
  return at === start - 1 ? undefined : at + 1
}

/** Where the run that includes `at` begins, not before `least`. */
export function startOfLine(text: string, from: number, least: number): number {
  let start = from
  for (;;) {
    const mark = escapeBefore(text, start, least)
    const escape = mark === undefined ? undefined : readEscape(text, mark)
    if (mark === undefined || escape === undefined || escape.end < start) return start
    // The letters of an escape do not belong to the payload: the `n` of a line break.
    if (!isBase64Char(escape.code)) return escape.end
    start = mark
    while (start > least && isBase64Char(text.charCodeAt(start - 1))) start--
  }
}

/** Characters of the alphabet in the whole text, whatever else it contains. */
export function countBase64(text: string, from: number): number {
  let count = 0
  for (let at = from; at < text.length;) {
    const line = readLine(text, at)
    count += line.chars
    at = readEscape(text, line.end)?.end ?? line.end + 1
  }
  return count
}

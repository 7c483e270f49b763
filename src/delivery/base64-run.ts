import {
  DIGIT,
  headOf,
  isBase64Char,
  LOWER,
  mayBeginEscape,
  readGap,
  readLine,
  readPadding,
  STANDARD,
  startOfLine,
  UPPER,
  URL_SAFE,
  type Line,
} from './base64-text.ts'

/** Payloads in texts: where they begin and end, in one piece or wrapped (MIME, PEM, `base64`, Python). Linear in the length of the text. */

/** Lines of wrapped base64 have 60 to 80 characters, words and names have fewer. Only the last line is shorter. */
const MIN_LINE = 40
/** An unwrapped run of more than this goes on in the next line only if that looks like one itself. */
const MAX_LINE = 128
/** A last line that does not come out at groups of four, as unpadded base64 does not, is known for one from here; so is a first one behind a mark. */
const MIN_TAIL = 20
/** Runs this long are never words; shorter media (icons) are recognised by their first bytes. */
const LONG_RUN = 2048
const SHORT_RUN = 64
/** First characters of the base64 of common formats, and their types. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
  ['SUQz', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['UEsDB', 'application/zip'],
  ['GkXfo', 'video/webm'],
]
const MAGIC_CHARS = 11

export interface Base64Run {
  readonly start: number
  /** Behind the padding. */
  readonly end: number
  /** Without padding, line breaks, and each escape as one. */
  readonly chars: number
}

/** Lines of one payload as they are gathered. */
interface Draft {
  start: number
  end: number
  chars: number
  seen: number
  lines: number
  /** Characters of a line before the last. */
  width: number
}

const draftOf = ({ start, end, chars, seen }: Line): Draft => ({ start, end, chars, seen, lines: 1, width: chars })

function add(draft: Draft, line: Line): void {
  draft.end = line.end
  draft.chars += line.chars
  draft.seen |= line.seen
  draft.lines++
  draft.width = line.chars
}

const finished = (text: string, { start, end, chars }: Draft): Base64Run => ({ start, end: readPadding(text, end).end, chars })

/** Only mixed ones are binary: a page of dashes or of one repeated letter is text, and so are hashes. */
const isMixed = (seen: number): boolean => (seen & (UPPER | LOWER | DIGIT)) === (UPPER | LOWER | DIGIT)

function magicType(text: string, start: number): string | undefined {
  const head = headOf(text, start, MAGIC_CHARS)
  return MAGIC.find(([magic]) => head.startsWith(magic))?.[1]
}

/** No encoder writes both alphabets: paths and ids with dashes do. */
const isOneAlphabet = (seen: number): boolean => (seen & (STANDARD | URL_SAFE)) !== (STANDARD | URL_SAFE)

/** What a line behind a text's last line has after it: nothing, a line break, or what closes the text. A word among words has others. */
const LINE_END = /[ \t]*(?:$|[\r\n"'`<)\]}\\%&])/y

function isTail(text: string, draft: Draft, line: Line, broken: boolean): boolean {
  if (line.chars > draft.width || draft.width < MIN_LINE) return false
  // Behind one line alone nothing says yet that this is wrapped.
  if (draft.lines === 1 && !(broken && (draft.chars <= MAX_LINE || line.chars >= MIN_LINE))) return false
  if (line.chars >= MIN_TAIL && (line.seen & (UPPER | LOWER)) === (UPPER | LOWER)) return true
  const padding = readPadding(text, line.end)
  if ((draft.chars + line.chars + padding.count) % 4 !== 0) return false
  LINE_END.lastIndex = padding.end
  return LINE_END.test(text)
}

/** The payload behind a mark (`;base64,`): it is one whatever it looks like; only where it ends is to be found. */
export function readMarked(text: string, start: number): Base64Run {
  const draft = draftOf(readLine(text, start))
  while (readPadding(text, draft.end).count === 0) {
    const gap = readGap(text, draft.end)
    if (gap.end === draft.end) break
    const line = readLine(text, gap.end)
    // Only a blank stands between the mark and the first line.
    if (line.chars >= (draft.chars === 0 ? MIN_TAIL : MIN_LINE)) add(draft, line)
    else {
      if (line.chars > 0 && isTail(text, draft, line, gap.broken)) add(draft, line)
      break
    }
  }
  return finished(text, draft)
}

/** Lines before the payload that are none of it. The first may be shorter than the rest, if something stood before it when it was wrapped. */
function isForeign(text: string, draft: Draft, line: Line): boolean {
  if (!isOneAlphabet(draft.seen | line.seen)) return true
  if (draft.lines > 1 || line.chars === draft.chars) return (draft.seen & (UPPER | LOWER | DIGIT)) === 0
  if (line.chars > draft.chars) return (draft.seen & (UPPER | LOWER)) !== (UPPER | LOWER)
  // The second is the last then: too little to be media.
  return draft.chars + line.chars < LONG_RUN && magicType(text, draft.start) === undefined
}

export interface UnmarkedRun extends Base64Run {
  /** Undefined: no media. */
  readonly type: string | undefined
}

function judged(text: string, draft: Draft): UnmarkedRun {
  const known = draft.chars >= SHORT_RUN ? magicType(text, draft.start) : undefined
  const type = known ?? (draft.chars >= LONG_RUN && isMixed(draft.seen) ? 'application/octet-stream' : undefined)
  return { ...finished(text, draft), type }
}

/**
 * The run that begins at `start`, or a later one if the lines there turn out to be something else: where it begins is part of the answer.
 * Wrapped ones have lines of one length, which words, paths and tables have not.
 */
export function readUnmarked(text: string, start: number): UnmarkedRun {
  let draft = draftOf(readLine(text, start))
  while (readPadding(text, draft.end).count === 0) {
    const gap = readGap(text, draft.end)
    if (gap.end === draft.end) break
    const line = readLine(text, gap.end)
    if (line.chars === 0) break
    const long = line.chars >= MIN_LINE
    // First bytes of a format are the beginning of another payload.
    if (magicType(text, line.start) !== undefined || (long && isForeign(text, draft, line))) {
      const before = judged(text, draft)
      if (before.type !== undefined) return before
      draft = draftOf(line)
    } else if (long && (line.chars === draft.width || (draft.lines === 1 && line.chars > draft.width))) {
      add(draft, line)
    } else {
      if (isOneAlphabet(draft.seen | line.seen) && isTail(text, draft, line, gap.broken)) add(draft, line)
      break
    }
  }
  return judged(text, draft)
}

/** Start of the first line of MIN_LINE characters or more that begins at `least` or later; -1 when there is none. */
export function nextStart(text: string, least: number): number {
  let at = least + MIN_LINE - 1
  while (at < text.length) {
    let before = at
    while (before >= least && isBase64Char(text.charCodeAt(before))) before--
    if (before < least || at - before >= MIN_LINE) return startOfLine(text, before + 1, least)
    if (mayBeginEscape(text.charCodeAt(before))) {
      const start = startOfLine(text, before + 1, least)
      if (start <= before && readLine(text, start).chars >= MIN_LINE) return start
    }
    // A line that long behind `before` covers this place.
    at = before + MIN_LINE
  }
  return -1
}

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

/** Finds base64 payloads in texts and where they end, in one piece or wrapped (MIME, PEM, `base64`, Python). Linear in the length of the text. */

/** Wrapped base64 has lines of 60 to 80 characters; words and names are shorter. Only its last line may be shorter. */
const MIN_LINE = 40
/** A longer unwrapped run continues on the next line only if that line looks like base64, too. */
const MAX_LINE = 128
/** From this length on a last line is recognized even if it is no multiple of four (unpadded base64), and so is a first line after a mark. */
const MIN_TAIL = 20
/** Runs this long are never words; shorter media (icons) are recognized by their first bytes. */
const LONG_RUN = 2048
const SHORT_RUN = 64
/** How the base64 of common formats begins, and their types. */
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
  /** The end, after the padding. */
  readonly end: number
  /** Characters without padding and line breaks; an escape counts as one. */
  readonly chars: number
}

/** The lines of one payload while they are gathered. */
interface Draft {
  start: number
  end: number
  chars: number
  seen: number
  lines: number
  /** Characters of a line before the last one. */
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

/** Binary data mixes character classes. A page of dashes or of one repeated letter is text, and so are hashes. */
const isMixed = (seen: number): boolean => (seen & (UPPER | LOWER | DIGIT)) === (UPPER | LOWER | DIGIT)

function magicType(text: string, start: number): string | undefined {
  const head = headOf(text, start, MAGIC_CHARS)
  return MAGIC.find(([magic]) => head.startsWith(magic))?.[1]
}

/** No encoder mixes both alphabets, but paths and ids with dashes do. */
const isOneAlphabet = (seen: number): boolean => (seen & (STANDARD | URL_SAFE)) !== (STANDARD | URL_SAFE)

/** What may follow the last line of a payload: nothing, a line break, or something that closes the text. A word in a sentence is followed by others. */
const LINE_END = /[ \t]*(?:$|[\r\n"'`<)\]}\\%&])/y

function isTail(text: string, draft: Draft, line: Line, broken: boolean): boolean {
  if (line.chars > draft.width || draft.width < MIN_LINE) return false
  // After a single line nothing shows yet that the text is wrapped.
  if (draft.lines === 1 && !(broken && (draft.chars <= MAX_LINE || line.chars >= MIN_LINE))) return false
  if (line.chars >= MIN_TAIL && (line.seen & (UPPER | LOWER)) === (UPPER | LOWER)) return true
  const padding = readPadding(text, line.end)
  if ((draft.chars + line.chars + padding.count) % 4 !== 0) return false
  LINE_END.lastIndex = padding.end
  return LINE_END.test(text)
}

/** The payload after a mark (`;base64,`), whatever it looks like; only its end has to be found. */
export function readMarked(text: string, start: number): Base64Run {
  const draft = draftOf(readLine(text, start))
  while (readPadding(text, draft.end).count === 0) {
    const gap = readGap(text, draft.end)
    if (gap.end === draft.end) break
    const line = readLine(text, gap.end)
    // Only blanks may stand between the mark and the first line.
    if (line.chars >= (draft.chars === 0 ? MIN_TAIL : MIN_LINE)) add(draft, line)
    else {
      if (line.chars > 0 && isTail(text, draft, line, gap.broken)) add(draft, line)
      break
    }
  }
  return finished(text, draft)
}

/** Lines before the payload that do not belong to it. The first line may be shorter than the others, if something stood before it when it was wrapped. */
function isForeign(text: string, draft: Draft, line: Line): boolean {
  if (!isOneAlphabet(draft.seen | line.seen)) return true
  if (draft.lines > 1 || line.chars === draft.chars) return (draft.seen & (UPPER | LOWER | DIGIT)) === 0
  if (line.chars > draft.chars) return (draft.seen & (UPPER | LOWER)) !== (UPPER | LOWER)
  // Then the second line would be the last: too little to be media.
  return draft.chars + line.chars < LONG_RUN && magicType(text, draft.start) === undefined
}

export interface UnmarkedRun extends Base64Run {
  /** Undefined if it is no media. */
  readonly type: string | undefined
}

function judged(text: string, draft: Draft): UnmarkedRun {
  const known = draft.chars >= SHORT_RUN ? magicType(text, draft.start) : undefined
  const type = known ?? (draft.chars >= LONG_RUN && isMixed(draft.seen) ? 'application/octet-stream' : undefined)
  return { ...finished(text, draft), type }
}

/**
 * The run that begins at `start`, or a later one if the lines there turn out to be something else, so its beginning is part of the result. The lines
 * of a wrapped payload have the same length; words, paths and tables do not.
 */
export function readUnmarked(text: string, start: number): UnmarkedRun {
  let draft = draftOf(readLine(text, start))
  while (readPadding(text, draft.end).count === 0) {
    const gap = readGap(text, draft.end)
    if (gap.end === draft.end) break
    const line = readLine(text, gap.end)
    if (line.chars === 0) break
    const long = line.chars >= MIN_LINE
    // The first bytes of a format begin another payload.
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

/** The start of the first line of at least MIN_LINE characters that begins at `least` or later; -1 if there is none. */
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
    // A line that long, after `before`, covers this place.
    at = before + MIN_LINE
  }
  return -1
}

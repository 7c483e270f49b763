import { RE2JS } from 're2js'
import { classSize } from './class-size.ts'
import { unfoldedSize } from './unfolded-size.ts'

export interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** A regular expression from an untrusted author: matching takes linear time in the text, whatever the expression is. */
export interface LinearPattern {
  test(text: string): boolean
  /**
   * Yields every non-empty match, in order and without overlaps. It yields `undefined` in between when time has passed without a match. No step takes more
   * than about 50 ms, for any pattern and text. `from` is the first position at which a match may begin; the text before it still counts as context.
   */
  search(text: string, from?: number): Generator<Span | undefined, void>
}

const MAX_CHARS = 10_000
/** Most instructions of a compiled pattern. Matching takes this many steps per character of text. */
const MAX_PROGRAM = 500
/** Largest estimate at which a pattern is compiled to find out its real size. A pattern without repetitions never exceeds it. */
const MAX_UNFOLDED = 2 * MAX_CHARS
/** Most characters that may be visited to build the classes of a pattern: four times all that have a case, or hundreds of Unicode classes. */
const MAX_CLASSES = 500_000
/** Instructions times characters of one look at a text. An instruction takes 25 to 60 ns if every one has to be tried. */
const LOOK = 500_000
/** The overlap of two consecutive looks, if the pattern is small enough. Longer matches across their border may be missed. */
const MAX_OVERLAP = 4 * 1024
/**
 * Most bytes of the automaton that a pattern may build while it reads. Most patterns need a few thousand. A pattern that exceeds the limit builds it in
 * vain (200 ms for the 8 MB of the default limit), and is then matched by the slower search that needs no automaton.
 */
const AUTOMATON_BYTES = 256 * 1024

/** A valid pattern whose compilation or matching would take too long. */
export class PatternTooLarge extends Error {}

/** Compiles RE2 syntax: JavaScript's without lookarounds and backreferences. Throws an Error whose message is for the author of the pattern. */
export function compileLinearPattern(source: string): LinearPattern {
  if (source.length > MAX_CHARS) throw new Error(`a regular expression may have at most ${MAX_CHARS} characters`)
  const unfolded = unfoldedSize(source)
  if (unfolded > MAX_UNFOLDED) throw tooLarge(`about ${unfolded}`)
  if (classSize(source) > MAX_CLASSES) throw new PatternTooLarge(CLASSES_TOO_LARGE)
  let pattern: RE2JS
  try {
    pattern = RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'it cannot be parsed'
    throw new Error(`invalid regular expression (lookarounds and backreferences are not supported): ${reason}`, { cause: error })
  }
  const size = pattern.programSize()
  if (size > MAX_PROGRAM) throw tooLarge(String(size))
  limitAutomaton(pattern)
  return { test: (text) => pattern.test(text), search: (text, from = 0) => search(pattern, text, from) }
}

const tooLarge = (size: string): PatternTooLarge =>
  new PatternTooLarge(
    `the regular expression is too large: ${size} instructions of at most ${MAX_PROGRAM}; each character and each repetition counts, x{1,100} as 200. Split it, or repeat without an upper bound`,
  )

const CLASSES_TOO_LARGE =
  'the regular expression is too large: its classes hold too many characters; where case does not count, name the scripts that are meant instead of wide ranges'

function limitAutomaton(pattern: RE2JS): void {
  const { dfa } = pattern.re2()
  dfa.stateBudget = AUTOMATON_BYTES
  dfa.memBudget = AUTOMATON_BYTES
}

/**
 * Searches consecutive parts of the text, each short enough for one step. A match is accepted if at least the overlap follows its beginning. Others are
 * left to the next step, which sees more of the text after them. A pattern without unbounded repetition matches fewer characters than it has instructions,
 * so none of its matches is missed.
 */
function* search(pattern: RE2JS, text: string, begin: number): Generator<Span | undefined, void> {
  const size = pattern.programSize()
  const look = Math.max(Math.floor(LOOK / size), 4 * size + 4)
  const overlap = Math.min(MAX_OVERLAP, Math.floor(look / 2))
  for (let from = begin; from < text.length;) {
    const to = Math.min(from + look, text.length)
    const isLast = to === text.length
    let next = isLast ? to : to - overlap
    for (const span of searchPart(pattern, text, from, to)) {
      if (span !== undefined && !isLast) {
        if (span.start >= to - overlap) break
        next = Math.max(next, span.end)
      }
      yield span
    }
    yield undefined
    from = next
  }
}

/** Matches in `text[from, to)`, with the text before it as context. */
function* searchPart(pattern: RE2JS, text: string, from: number, to: number): Generator<Span | undefined, void> {
  // Finding the positions is much slower than testing whether there are any. The test includes the preceding character, which decides about word
  // boundaries.
  if (!pattern.test(text.slice(Math.max(from - 2, 0), to))) return
  yield undefined
  const matcher = pattern.matcher(text.slice(0, to))
  for (let found = matcher.find(from); found; found = matcher.find()) {
    const start = matcher.start()
    const end = matcher.end()
    yield end > start ? { start, end } : undefined
  }
}

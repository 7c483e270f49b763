import { RE2JS } from 're2js'

export interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** A regular expression of somebody else's: matching takes time linear in the text, whatever it says. */
export interface LinearPattern {
  test(text: string): boolean
  /** Matches that are not empty, in order, without overlaps; at most `limit`. */
  find(text: string, limit: number): readonly Span[]
}

const MAX_CHARS = 10_000
/** Instructions of a compiled pattern: the factor before the text's length. */
const MAX_PROGRAM = 4_000

/**
 * Compiles RE2 syntax: JavaScript's without lookarounds and backreferences. Throws Error with a sentence for who wrote it.
 */
export function compileLinearPattern(source: string): LinearPattern {
  if (source.length > MAX_CHARS) throw new Error(`a regular expression may have at most ${MAX_CHARS} characters`)
  let pattern: RE2JS
  try {
    pattern = RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'it cannot be parsed'
    throw new Error(`invalid regular expression (lookarounds and backreferences are not supported): ${reason}`, { cause: error })
  }
  if (pattern.programSize() > MAX_PROGRAM) throw new Error('the regular expression is too large')
  return {
    test: (text) => pattern.test(text),
    find(text, limit) {
      // The search for places is slower by far than the question whether there are any.
      if (!pattern.test(text)) return []
      const spans: Span[] = []
      const matcher = pattern.matcher(text)
      while (spans.length < limit && matcher.find()) if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end() })
      return spans
    },
  }
}

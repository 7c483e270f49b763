import type { Span } from '../../lib/linear-pattern.ts'

/** Finds one kind of thing in a text. */
export interface Detector {
  /**
   * Parts of the text, in any order, found as they are asked for; what is found says why, where more than one thing can be found.
   * `undefined`: nothing was found, and time went by. `from`: nobody asks for what begins before this place, which may be told all the same.
   */
  readonly find: (text: string, from?: number) => Iterable<Found | undefined>
}

export interface Found extends Span {
  /** Name of the pattern that found it. */
  readonly what?: string
}

/** Matches of a pattern with the flag `g`; one that is bounded in each of its repetitions, so that it cannot stall. */
export function matchesOf(pattern: RegExp, text: string): Span[] {
  const spans: Span[] = []
  for (const { 0: found, index } of text.matchAll(pattern)) spans.push({ start: index, end: index + found.length })
  return spans
}

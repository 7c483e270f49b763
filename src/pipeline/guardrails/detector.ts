import type { Span } from '../../lib/linear-pattern.ts'

/** Finds one kind of thing in a text. */
export interface Detector {
  /**
   * Parts of the text in any order, found lazily. Each names what it is if the detector finds several things.
   * `undefined`: nothing was found yet, and time has passed. `from`: matches before this place are not needed, but may be yielded.
   */
  readonly find: (text: string, from?: number) => Iterable<Found | undefined>
}

export interface Found extends Span {
  /** Name of the pattern that found it. */
  readonly what?: string
}

/** Matches of a pattern with the flag `g`, whose repetitions must all be bounded so that it cannot stall. */
export function matchesOf(pattern: RegExp, text: string): Span[] {
  const spans: Span[] = []
  for (const { 0: found, index } of text.matchAll(pattern)) spans.push({ start: index, end: index + found.length })
  return spans
}

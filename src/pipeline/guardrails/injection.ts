import type { TextView } from '../../lib/text-view.ts'
import { joinSpacedLetters } from '../../lib/text-view.ts'
import type { Detector, Found } from './detector.ts'
import { INJECTION_PATTERNS, scrambledWord, SQUASHED_PATTERNS, SUSPECT_WORDS, type InjectionPattern } from './injection-patterns.ts'

const WORD = /[A-Za-z]{6,12}/g

function search(patterns: readonly InjectionPattern[], text: string): Found[] {
  return patterns.flatMap(({ name, pattern }) =>
    Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({ start: index, end: index + found.length, what: name })),
  )
}

/** Phrases of attacks, and scrambled words. */
export const injectionDetector: Detector = {
  find(text) {
    const found = search(INJECTION_PATTERNS, text)
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const target = scrambledWord(word)
      if (target !== undefined) found.push({ start: index, end: index + word.length, what: `scrambled_${target}` })
    }
    return found
  },
}

/** Attacks spelled letter by letter: `i g n o r e`. */
export function findSpacedInjection(view: TextView): readonly Found[] {
  const joined = joinSpacedLetters(view)
  if (joined === undefined) return []
  return search(SQUASHED_PATTERNS, joined.text).map(({ start, end, what }) => ({ ...joined.original(start, end), what: what! }))
}

/** What makes a decoded text suspicious: a phrase of an attack, or merely its vocabulary. */
export function findHiddenInjection(decoded: string): string | undefined {
  const [phrase] = search(INJECTION_PATTERNS, decoded)
  if (phrase !== undefined) return phrase.what
  const words = new Set(Array.from(decoded.matchAll(SUSPECT_WORDS), ([word]) => word.toLowerCase()))
  return words.size > 1 ? [...words].join('_') : undefined
}

import type { Span } from '../../lib/linear-pattern.ts'
import { matchesOf } from './detector.ts'

const RUN = /(?<!\d)[2-6](?:[ -]?\d){12,18}(?!\d)/g
const GROUP = /\d+/g
/** Between two groups of one number. */
const GAP = /^[ \t./-]{1,3}$/
/** How numbers are written on cards, by the lengths of their groups. */
const FORMS: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [4, 4, 4, 4, 3],
  [4, 6, 5],
  [4, 6, 4],
]
const LEAST_DIGITS = 13
const MOST_DIGITS = 19

/** Card numbers: runs of digits of their length, and digits grouped like one beside other digits (an expiry date, a check value, a count). */
export function cardsIn(text: string): readonly Span[] {
  const runs = matchesOf(RUN, text).filter(({ start, end }) => hasValidCheckDigit(text.slice(start, end)))
  const groups = matchesOf(GROUP, text)
  const written = groups.flatMap((_, at) => writtenFrom(text, groups, at)).filter(({ start, end }) => hasValidCheckDigit(text.slice(start, end)))
  return [...runs, ...written]
}

/** The text from this group on, if it has the form of a card number. */
function writtenFrom(text: string, groups: readonly Span[], at: number): readonly Span[] {
  const { start, end } = groups[at]!
  const first = text[start]!
  if (first < '2' || first > '6') return []
  const digits = end - start
  if (digits >= LEAST_DIGITS && digits <= MOST_DIGITS) return [groups[at]!]
  const forms = FORMS.filter((form) => form.every((length, i) => follows(text, groups, at, i, length)))
  return forms.map((form) => ({ start, end: groups[at + form.length - 1]!.end }))
}

/** Whether the group this many places after the first has this length and belongs to the one before it. */
function follows(text: string, groups: readonly Span[], at: number, i: number, length: number): boolean {
  const group = groups[at + i]
  if (group === undefined || group.end - group.start !== length) return false
  return i === 0 || GAP.test(text.slice(groups[at + i - 1]!.end, group.start))
}

/** Luhn's check digit. */
function hasValidCheckDigit(written: string): boolean {
  const digits = written.replaceAll(/\D/g, '')
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

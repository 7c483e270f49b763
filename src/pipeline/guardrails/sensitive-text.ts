import { isIPv6 } from 'node:net'
import type { BuiltinFilter } from '../../core/guardrail.ts'
import type { Span } from '../../lib/linear-pattern.ts'
import { cardsIn } from './card-numbers.ts'
import { matchesOf, type Detector } from './detector.ts'

/** Kinds of sensitive text that are recognized by their form. All repetitions are bounded, so a search is linear in the length of the text. */

export interface SensitiveKind extends Detector {
  /** The name for people. */
  readonly label: string
  /** Replaces what was found. */
  readonly placeholder: string
}

/** Letters of scripts that separate words by spaces; in other scripts nobody could tell where an address begins. */
const LETTER =
  '\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Armenian}\\p{Script=Georgian}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Devanagari}\\p{M}'
const EMAIL = new RegExp(
  `[${LETTER}0-9._%+'-]{1,64}@(?:[\\p{L}\\p{M}0-9-]{1,63}\\.){1,8}(?:xn--[a-z0-9-]{1,59}|[${LETTER}]{2,24}|\\p{Script=Han}{2,8})(?![${LETTER}])`,
  'giu',
)
/** North American numbers with or without separators and extension, and international ones that begin with a plus sign. */
const PHONE =
  /(?<!\w|\d\.)(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[ .-]?)[2-9]\d{2}[ .-]?\d{4}(?:(?!\w)|(?=x\d))|(?<!\w)\+(?=(?:[ .()/-]{0,3}\d){8,15}(?!\d))[1-9](?:[ .()/-]{0,3}\d){7,14}/g
const SSN = /(?<!\d-?)(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!-?\d)/g
const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const IPV4 = new RegExp(`(?<!\\w|\\d\\.)(?:${OCTET}\\.){3}${OCTET}(?!\\.?\\d|\\w)`, 'g')
/** A run that may contain an IPv6 address: with a label before it, and a colon, a port or more after it. */
const COLONS = /(?<![\da-f:])[\da-f:]{3,60}(?:(?:\.\d{1,3}){3})?(?![\da-f:])/gi

const NOTHING: readonly Span[] = []

function addressesIn(text: string): readonly Span[] {
  const found = text.includes('.') ? matchesOf(IPV4, text) : []
  if (text.includes(':')) found.push(...matchesOf(COLONS, text).flatMap((run) => addressIn(text, run) ?? []))
  return found
}

const WORD = /\w/

/** The IPv6 address in a run of digits and colons, without a label or a port. */
function addressIn(text: string, { start, end }: Span): Span | undefined {
  const run = text.slice(start, end)
  if (run.indexOf(':') === run.lastIndexOf(':')) return undefined
  for (const [head, tail] of [
    [0, 0],
    [0, /(?<!:):[\da-f]*$/i.exec(run)?.[0].length ?? 0],
    [/^[\da-f]*:(?!:)/i.exec(run)?.[0].length ?? 0, 0],
  ] as const) {
    const span = { start: start + head, end: end - tail }
    if (isIPv6(text.slice(span.start, span.end)) && !WORD.test(text[span.start - 1] ?? '') && !WORD.test(text[span.end] ?? '')) return span
  }
  return undefined
}

export const SENSITIVE_KINDS: { readonly [S in BuiltinFilter]?: SensitiveKind } = {
  email: { label: 'Email address', placeholder: '[EMAIL]', find: (text) => (text.includes('@') ? matchesOf(EMAIL, text) : NOTHING) },
  'credit-card': { label: 'Credit card number', placeholder: '[CREDIT_CARD]', find: cardsIn },
  ssn: { label: 'Social Security number', placeholder: '[SSN]', find: (text) => matchesOf(SSN, text) },
  phone: { label: 'Phone number', placeholder: '[PHONE]', find: (text) => matchesOf(PHONE, text) },
  'ip-address': { label: 'IP address', placeholder: '[IP_ADDRESS]', find: addressesIn },
}

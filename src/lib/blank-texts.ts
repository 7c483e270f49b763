import { replaceText } from './find-text.ts'

export const REDACTED = '[redacted]'

/** What everybody writes as it is, in whatever form a text is quoted. */
const PLAIN = /^[\w.~-]+$/
/** Signs that a text may be written in a form in which other characters look otherwise. */
const QUOTING = /[\\%&]/

/** Errors and what is told of them are shorter. Of a longer text each sign may begin a secret, and somebody else may have written both. */
const MAX_QUOTED = 65_536

/** Whether a text may look otherwise where it is quoted. */
export const changesQuoted = (text: string): boolean => !PLAIN.test(text)

/**
 * A text without those its reader must not see, as they are or as they look inside of JSON, an address or a page. The longest first: of one that
 * begins like another the rest would stay. `shown`: what stands in the place of a text that was found.
 */
export function blankTexts(text: string, hidden: readonly string[], shown: (found: string) => string = () => REDACTED): string {
  const isQuoting = text.length <= MAX_QUOTED && QUOTING.test(text)
  return hidden
    .toSorted((a, b) => b.length - a.length)
    .reduce(
      (left, each) => (isQuoting && changesQuoted(each) ? left.replace(quoted(each), (found) => shown(found)) : replaceText(left, each, shown(each))),
      text,
    )
}

/** A text in whatever form it is quoted, also inside of another. Runs of signs are bounded: they may be without end where somebody means harm. */
function quoted(text: string): RegExp {
  const forms = text.replace(/\\+|[\s\S]/g, (each) =>
    each.startsWith('\\') ? `\\\\{1,${Math.max(each.length, Math.min(64, each.length * 4))}}` : formsOf(each),
  )
  return new RegExp(forms, 'g')
}

function formsOf(character: string): string {
  if (PLAIN.test(character)) return character === '.' ? String.raw`\.` : character
  const code = character.charCodeAt(0)
  const hex = code.toString(16).padStart(2, '0')
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const itself = String.raw`\u${hex.padStart(4, '0')}`
  return String.raw`(?:\\{0,3}${itself}|\\{1,3}u${'0'.repeat(Math.max(0, 4 - hex.length))}${anyCase}|%${anyCase}|&#(?:${code}|[xX]0{0,4}${anyCase});)`
}

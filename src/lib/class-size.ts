/** `(?i)`, alone or with other flags: from some point on, letters match in both cases. */
const FOLDS = /\(\?[a-z]*i/i
const CHARACTER = String.raw`\\x\{[\da-f]{1,6}\}|\\u\{[\da-f]{1,6}\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\[0-7]{1,3}|\\?[^]`
/** A range of characters. Outside of a class a match is no range, and then it usually spans few characters. */
const RANGE = new RegExp(`(${CHARACTER})-(${CHARACTER})`, 'giu')
/** The last character that has a case. */
const LAST_WITH_CASE = 0x1e943
/** A Unicode class such as `\p{L}`: hundreds of ranges. */
const UNICODE_CLASS = /\\p/gi
/** The cost of a Unicode class, in characters of a range whose case is looked up. */
const UNICODE_CLASS_CHARACTERS = 2_000

/**
 * Estimates from its text how many characters a compiler visits to build the character classes of a regular expression. If case is ignored, it looks up
 * the other cases of each character in a range: `[\u0100-\u{1e943}]` is a few characters of text, but 125,000 lookups.
 */
export function classSize(source: string): number {
  const unicode = (source.match(UNICODE_CLASS)?.length ?? 0) * UNICODE_CLASS_CHARACTERS
  if (!FOLDS.test(source)) return unicode
  let size = unicode
  for (const [, first = '', last = ''] of source.matchAll(RANGE)) size += Math.max(0, Math.min(codeOf(last), LAST_WITH_CASE) - codeOf(first))
  return size
}

function codeOf(character: string): number {
  const [, hexadecimal, octal] = /^\\(?:[xu]\{?([\da-f]+)\}?|([0-7]+))$/i.exec(character) ?? []
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16)
  return octal === undefined ? character.codePointAt(character.length > 1 && character.startsWith('\\') ? 1 : 0)! : Number.parseInt(octal, 8)
}

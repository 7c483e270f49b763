/**
 * Up to this length the engine's own search is fast for any text. For longer ones it uses only the first 250 characters to decide how far to skip, so texts
 * made for it cost the product of both lengths: a second for a megabyte.
 */
const QUICK_CHARS = 250

/** Whether the engine's own search is fast enough, in strings and in bytes. */
export const isQuicklyFound = ({ length }: string): boolean => length <= QUICK_CHARS

/** The index of one text in another, or -1. Takes time in proportion to the sum of their lengths, because an attacker may have written either. */
export function findText(text: string, wanted: string, from = 0): number {
  return isQuicklyFound(wanted) ? text.indexOf(wanted, from) : findLong(text, wanted, from)
}

/** The algorithm of Knuth, Morris and Pratt: no matched character is compared twice. */
function findLong(text: string, wanted: string, from: number): number {
  // Usually not even the beginning is there.
  const start = text.indexOf(wanted.slice(0, QUICK_CHARS), from)
  if (start === -1) return -1
  const steps = bordersOf(wanted)
  let matched = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && code !== wanted.charCodeAt(matched)) matched = steps[matched - 1]!
    if (code === wanted.charCodeAt(matched)) matched++
    if (matched === wanted.length) return at + 1 - matched
  }
  return -1
}

/** For each prefix of a text, the length of its longest border: a proper prefix that is also its suffix. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length)
  for (let at = 1, length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (length > 0 && code !== text.charCodeAt(length)) length = borders[length - 1]!
    if (code === text.charCodeAt(length)) length++
    borders[at] = length
  }
  return borders
}

/** `replaceAll` in linear time. */
export function replaceText(text: string, wanted: string, by: string): string {
  if (isQuicklyFound(wanted)) return text.replaceAll(wanted, () => by)
  const pieces: string[] = []
  let from = 0
  for (let at = findText(text, wanted); at !== -1; at = findText(text, wanted, from)) {
    pieces.push(text.slice(from, at))
    from = at + wanted.length
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(from)].join(by)
}

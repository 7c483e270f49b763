/**
 * Up to so many characters the engine's own search is quick whatever stands in either text. Of longer ones it looks at no more when it decides how far
 * to go on, and with texts that were made for it takes a step for each character of both: a second for a megabyte.
 */
const QUICK_CHARS = 250

/** Whether the engine may look for it itself, in bytes as well. */
export const isQuicklyFound = ({ length }: string): boolean => length <= QUICK_CHARS

/** Where one text begins in another, or -1, in time that grows with the sum of their lengths: either may be somebody's who means harm. */
export function findText(text: string, wanted: string, from = 0): number {
  return isQuicklyFound(wanted) ? text.indexOf(wanted, from) : findLong(text, wanted, from)
}

/** After Knuth, Morris and Pratt: what has matched is never looked at again. */
function findLong(text: string, wanted: string, from: number): number {
  // Mostly its beginning is nowhere.
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

/** Of each beginning of a text, how long the longest is that is its end as well. */
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

/** A text in which another stands in every place of a third. */
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

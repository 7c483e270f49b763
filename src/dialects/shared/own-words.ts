const QUOTES = ['"', "'", '`']
const isWord = (char: string | undefined): boolean => char !== undefined && /\w/.test(char)

/**
 * A message without its quotations: from the first opening quotation mark to the last closing one, so that marks in the quoted text cannot end the
 * quotation. Apostrophes within words are not counted.
 */
export function ownWords(message: string): string {
  let words = message
  for (const quote of QUOTES) {
    let first = words.indexOf(quote)
    while (first >= 0 && isWord(words[first - 1])) first = words.indexOf(quote, first + 1)
    if (first < 0) continue
    let last = words.lastIndexOf(quote)
    while (last > first && isWord(words[last + 1])) last = words.lastIndexOf(quote, last - 1)
    if (last > first) words = `${words.slice(0, first)}${words.slice(last + 1)}`
  }
  return words
}

/** The length of a text as JSON Schema counts it: a character outside the basic plane counts once, although it has two code units. */
export function countCharacters(text: string): number {
  let pairs = 0
  for (let i = 1; i < text.length; i += 1) {
    if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00 || (text.charCodeAt(i - 1) & 0xfc00) !== 0xd800) continue
    pairs += 1
    i += 1
  }
  return text.length - pairs
}

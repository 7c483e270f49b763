/** The beginning of a text, at most so many UTF-16 code units: never with half a character at its end, which strict readers of JSON refuse. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max)
}

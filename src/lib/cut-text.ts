/** The beginning of a text, at most `max` UTF-16 code units. Never ends in half a surrogate pair, which strict JSON parsers refuse. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max)
}

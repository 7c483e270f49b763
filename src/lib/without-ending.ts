/** Removes all of these characters from the end of a text. In one pass from the end, because a pattern would restart at every one of them. */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

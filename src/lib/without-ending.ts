/** The text without those of these characters it ends in. In one pass from the end: a pattern would begin anew at every one of them. */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

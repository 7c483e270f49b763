/**
 * Whether a pattern, in which `*` stands for any number of characters, matches the whole text. Ignores case. Takes time linear in the text's length times
 * the number of stars.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const subject = text.toLowerCase()
  if (rest.length === 0) return subject === first
  const last = rest.pop()!
  if (!subject.startsWith(first) || subject.length < first.length + last.length || !subject.endsWith(last)) return false
  let at = first.length
  for (const piece of rest) {
    const found = subject.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= subject.length - last.length
}

/** Tests whether a text equals one of these patterns or matches one that contains `*`. Ignores case; patterns without `*` cost one lookup together. */
export function compileWildcards(patterns: readonly string[]): (text: string) => boolean {
  const plain = new Set(patterns.filter((pattern) => !pattern.includes('*')).map((pattern) => pattern.toLowerCase()))
  const wild = patterns.filter((pattern) => pattern.includes('*'))
  return (text) => plain.has(text.toLowerCase()) || wild.some((pattern) => matchesWildcard(pattern, text))
}

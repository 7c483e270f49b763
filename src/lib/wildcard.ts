/** Whether a pattern, in which `*` stands for any number of characters, matches the whole text. Case does not matter. Linear in the text times the stars. */
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

/** Whether a text is one of these, or described by one of these with `*`. Case does not matter; plain texts cost one look-up. */
export function compileWildcards(patterns: readonly string[]): (text: string) => boolean {
  const plain = new Set(patterns.filter((pattern) => !pattern.includes('*')).map((pattern) => pattern.toLowerCase()))
  const wild = patterns.filter((pattern) => pattern.includes('*'))
  return (text) => plain.has(text.toLowerCase()) || wild.some((pattern) => matchesWildcard(pattern, text))
}

/**
 * Whether a pattern, in which `*` stands for any number of characters, matches the whole text. Ignores case. Takes time linear in the text's length times
 * the number of stars.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  return matches(piecesOf(pattern), text.toLowerCase())
}

interface Pieces {
  readonly first: string
  readonly inner: readonly string[]
  /** Undefined if there is no star. */
  readonly last: string | undefined
  /** Of all pieces together: a shorter text has no place for them. */
  readonly length: number
}

function piecesOf(pattern: string): Pieces {
  const [first = '', ...inner] = pattern.toLowerCase().split('*')
  const last = inner.pop()
  const length = first.length + (last?.length ?? 0) + inner.reduce((sum, piece) => sum + piece.length, 0)
  return { first, inner: inner.filter((piece) => piece !== ''), last, length }
}

function matches({ first, inner, last, length }: Pieces, subject: string): boolean {
  if (last === undefined) return subject === first
  if (subject.length < length || !subject.startsWith(first) || !subject.endsWith(last)) return false
  let at = first.length
  for (const piece of inner) {
    const found = subject.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= subject.length - last.length
}

/** Tests whether a text equals one of these patterns or matches one that contains `*`. Ignores case; patterns without `*` cost one lookup together. */
export function compileWildcards(patterns: readonly string[]): (text: string) => boolean {
  const plain = new Set(patterns.filter((pattern) => !pattern.includes('*')).map((pattern) => pattern.toLowerCase()))
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(piecesOf)
  return (text) => {
    const subject = text.toLowerCase()
    return plain.has(subject) || wild.some((pieces) => matches(pieces, subject))
  }
}

/** The known word that was probably meant; undefined if none is similar enough. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const nearest = known.map((name) => ({ name, distance: editDistance(word.toLowerCase(), name) })).toSorted((a, b) => a.distance - b.distance)[0]
  return nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(nearest.name.length / 3)) ? nearest.name : undefined
}

/** The known name whose words include all words of this one, or the reverse: `bedrock` and `amazon-bedrock`. The shortest, if there are several. */
export function closestByWords(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name)
  const isPart = (some: ReadonlySet<string>, all: ReadonlySet<string>): boolean => some.size > 0 && [...some].every((word) => all.has(word))
  const matching = known.filter((other) => isPart(words, wordsOf(other)) || isPart(wordsOf(other), words))
  return matching.toSorted((a, b) => a.length - b.length)[0]
}

/** Words of one or two letters say too little to be compared. */
const wordsOf = (name: string): ReadonlySet<string> =>
  new Set(
    name
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word.length > 2),
  )

/** The end of an error message that names the word that was probably meant. */
export function insteadOf(word: string, known: readonly string[]): string {
  const nearest = closest(word, known)
  return nearest === undefined ? `expected one of: ${known.join(', ')}` : `did you mean ${nearest}? (known: ${known.join(', ')})`
}

/** Counts letters that are missing, superfluous, wrong, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const exchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(change, exchange, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

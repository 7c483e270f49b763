export interface DiffLine {
  /** Whether the line is in both texts, only in the first, or only in the second. */
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** With more comparisons than this, everything between the first and the last change is shown as replaced. */
const MAX_CELLS = 4_000_000

/** The differences between two texts, line by line. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const from = linesOf(before)
  const to = linesOf(after)
  let head = 0
  while (head < from.length && head < to.length && from[head] === to[head]) head++
  let tail = 0
  while (tail < from.length - head && tail < to.length - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++
  return [
    ...from.slice(0, head).map((text) => ({ kind: 'same', text }) as const),
    ...changed(from.slice(head, from.length - tail), to.slice(head, to.length - tail)),
    ...from.slice(from.length - tail).map((text) => ({ kind: 'same', text }) as const),
  ]
}

/** An empty text has no lines. */
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))

function changed(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  if (from.length * to.length > MAX_CELLS) return [...from.map((text) => removed(text)), ...to.map((text) => added(text))]
  const common = commonLengths(from, to)
  const width = to.length + 1
  const lines: DiffLine[] = []
  let row = 0
  let column = 0
  while (row < from.length && column < to.length) {
    if (from[row] === to[column]) {
      lines.push({ kind: 'same', text: from[row]! })
      row++
      column++
    } else if (common[(row + 1) * width + column]! >= common[row * width + column + 1]!) lines.push(removed(from[row++]!))
    else lines.push(added(to[column++]!))
  }
  return [...lines, ...from.slice(row).map(removed), ...to.slice(column).map(added)]
}

/** The length of the longest common subsequence of lines, for every pair of tails of both texts. */
function commonLengths(from: readonly string[], to: readonly string[]): Uint32Array {
  const width = to.length + 1
  const lengths = new Uint32Array((from.length + 1) * width)
  for (let row = from.length - 1; row >= 0; row--) {
    for (let column = to.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        from[row] === to[column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!)
    }
  }
  return lengths
}

const removed = (text: string): DiffLine => ({ kind: 'removed', text })
const added = (text: string): DiffLine => ({ kind: 'added', text })

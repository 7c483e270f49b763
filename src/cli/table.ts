const CONTROL = /\p{Cc}/gu

/** Callers choose names of models, and could otherwise write to the operator's terminal, or lines that nobody has counted. */
const inOneLine = (cell: string): string => cell.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Rows of cells, aligned; the first row is the head. Columns named in `right` hold numbers and are aligned right. */
export function table(cells: readonly (readonly string[])[], right: ReadonlySet<number> = new Set()): string {
  const rows = cells.map((row) => row.map(inOneLine))
  const [head = []] = rows
  const widths = head.map((_, column) => rows.reduce((widest, row) => Math.max(widest, row[column]!.length), 0))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (right.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd()
  return `${rows.map(line).join('\n')}\n`
}

/** Rows with a text in one of these, ignoring case; all of them for no text. */
export function containing<Row>(rows: readonly Row[], text: string, textsOf: (row: Row) => readonly string[]): readonly Row[] {
  const wanted = text.trim().toLowerCase()
  return wanted === '' ? rows : rows.filter((row) => textsOf(row).some((own) => own.toLowerCase().includes(wanted)))
}

/** What an empty list says while there are rows that were not read yet: nobody knows whether there is a match. */
export const searching = (error: Error | null): string => (error === null ? 'Searching …' : 'Nothing found so far.')

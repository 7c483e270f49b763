/** Lists are pasted from documents as well, one entry a line: all lines would become one entry, which nothing ever matches. */
export const LINE = '\n'
/** For entries that have no commas. */
export const SEPARATORS = [',', LINE]

/** For sorting: by UTF-16 code units, the same everywhere, whatever the language of the machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The characters that begin the decimals while an amount is typed. A comma does so only where the reader's language writes decimals with it; elsewhere it
 * groups digits, as in the amounts that the console shows, and `1,000` must not become one dollar. Without a language, it is the browser's own, which is always a valid one.
 */
export function decimalMarks(language?: string): string[] {
  return new Intl.NumberFormat(language).format(0.5).includes(',') ? ['.', ','] : ['.']
}

export const REDACTED = '[redacted]'

/** A text without those its reader must not see. The longest first: of one that begins like another the rest would stay. */
export function blankTexts(text: string, hidden: readonly string[]): string {
  return hidden.toSorted((a, b) => b.length - a.length).reduce((left, each) => left.replaceAll(each, REDACTED), text)
}

import type { InputItem } from '../../core/item.ts'

/** Whether nothing is said in any item: what a format then makes of it (`Continue.`) would be answered, and nobody has asked it. */
export const saysNothing = (input: readonly InputItem[]): boolean =>
  input.every((item) => item.type === 'message' && !hasContent((item as { readonly content?: unknown }).content))

function hasContent(content: unknown): boolean {
  if (Array.isArray(content)) return content.some(shows)
  return content !== undefined && content !== ''
}

/** Empty texts say nothing; parts of other kinds are looked at elsewhere. */
const shows = (part: { readonly text?: unknown; readonly refusal?: unknown }): boolean => (part.text ?? part.refusal) !== ''

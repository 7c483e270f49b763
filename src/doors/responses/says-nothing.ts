import type { InputItem } from '../../core/item.ts'

/** Whether no item has any content: a dialect would fill the gap (with `Continue.`), and the model would answer something that nobody asked. */
export const saysNothing = (input: readonly InputItem[]): boolean =>
  input.every((item) => item.type === 'message' && !hasContent((item as { readonly content?: unknown }).content))

function hasContent(content: unknown): boolean {
  if (Array.isArray(content)) return content.some(shows)
  return content !== undefined && content !== ''
}

/** Empty texts are no content; other kinds of parts are checked elsewhere. */
const shows = (part: { readonly text?: unknown; readonly refusal?: unknown }): boolean => (part.text ?? part.refusal) !== ''

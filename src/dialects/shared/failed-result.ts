import type { ContentPart } from './content-parts.ts'
import type { ToolResult } from './conversation.ts'

/** What stands before the words of a failed result, for models whose format has no other way to say so. */
const WORD = 'Error:'

const isText = (part: ContentPart): boolean => part.type === 'input_text' && part.cited === undefined

/**
 * A result for a format that can say that a call has failed: whether it is to say so, and the parts without the word that says so to all others. A
 * failure without words is refused, and one that shows anything else: the first keeps its word, and the second is told as any other result.
 */
export function failureOf({ parts, missing, failed }: ToolResult): { readonly failed: boolean; readonly parts: readonly ContentPart[] } {
  if (missing || !failed || !parts.every(isText)) return { failed: missing, parts }
  const [first, ...rest] = parts
  const saysSo = first?.type === 'input_text' && first.text === WORD
  const explains = rest.some((part) => part.type === 'input_text' && part.text.trim() !== '')
  return { failed, parts: saysSo && explains ? rest : parts }
}

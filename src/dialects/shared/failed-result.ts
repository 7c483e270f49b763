import type { ContentPart } from './content-parts.ts'
import type { ToolResult } from './conversation.ts'

/** Prefix of a failed result, for models whose format has no other way to say so. */
const WORD = 'Error:'

const isText = (part: ContentPart): boolean => part.type === 'input_text' && part.cited === undefined

/**
 * A result for a format that can mark a failed call: whether to mark it, and the parts without the prefix for all other formats. Failures without
 * text, or with anything but text, are refused by such formats: the first keeps the prefix, the second is sent as an ordinary result.
 */
export function failureOf({ parts, missing, failed }: ToolResult): { readonly failed: boolean; readonly parts: readonly ContentPart[] } {
  if (missing || !failed || !parts.every(isText)) return { failed: missing, parts }
  const [first, ...rest] = parts
  const saysSo = first?.type === 'input_text' && first.text === WORD
  const explains = rest.some((part) => part.type === 'input_text' && part.text.trim() !== '')
  return { failed, parts: saysSo && explains ? rest : parts }
}

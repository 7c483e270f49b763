import type { JsonObject } from '../../core/item.ts'
import type { ResourceState } from '../responses/resource.ts'
import type { PartWriter } from './part-writer.ts'

/** For an answer that the model, or something behind it, refused to give. */
const REFUSED = 'SAFETY'

/** The vendor's terms for an answer it withheld or cut. */
const WITHHELD: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** The finish reason, and the model's explanation if it refused: members of a candidate. */
export function finishOf(state: ResourceState, parts: Pick<PartWriter, 'broken' | 'calls' | 'refusal'>): JsonObject {
  const finishReason = finishReasonOf(state, parts)
  const finishMessage = state.stopped?.refusal?.explanation || parts.refusal
  return finishReason === REFUSED && finishMessage !== '' ? { finishReason, finishMessage: finishMessage.toWellFormed() } : { finishReason }
}

function finishReasonOf({ incompleteReason, nativeReason = '' }: ResourceState, { broken, calls, refusal }: Parameters<typeof finishOf>[1]): string {
  if (incompleteReason === 'max_output_tokens') return 'MAX_TOKENS'
  if (incompleteReason === 'content_filter') return WITHHELD.has(nativeReason) ? nativeReason : REFUSED
  // A call that was cut off is not written.
  if (broken) return 'MALFORMED_FUNCTION_CALL'
  return calls === 0 && (refusal !== '' || nativeReason === 'refusal') ? REFUSED : 'STOP'
}

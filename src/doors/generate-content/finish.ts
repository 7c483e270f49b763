import type { JsonObject } from '../../core/item.ts'
import type { ResourceState } from '../responses/resource.ts'
import type { PartWriter } from './part-writer.ts'

/** Of an answer that its model, or somebody behind it, would not give. */
const REFUSED = 'SAFETY'

/** Words of the format's vendor for an answer it withheld or cut. */
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

/** Why an answer ended, and what the model says of it where it would not answer: members of a candidate. */
export function finishOf(state: ResourceState, parts: Pick<PartWriter, 'broken' | 'calls' | 'refusal'>): JsonObject {
  const finishReason = finishReasonOf(state, parts)
  const finishMessage = state.stopped?.refusal?.explanation || parts.refusal
  return finishReason === REFUSED && finishMessage !== '' ? { finishReason, finishMessage: finishMessage.toWellFormed() } : { finishReason }
}

function finishReasonOf({ incompleteReason, nativeReason = '' }: ResourceState, { broken, calls, refusal }: Parameters<typeof finishOf>[1]): string {
  if (incompleteReason === 'max_output_tokens') return 'MAX_TOKENS'
  if (incompleteReason === 'content_filter') return WITHHELD.has(nativeReason) ? nativeReason : REFUSED
  // One that broke off is not told.
  if (broken) return 'MALFORMED_FUNCTION_CALL'
  return calls === 0 && (refusal !== '' || nativeReason === 'refusal') ? REFUSED : 'STOP'
}

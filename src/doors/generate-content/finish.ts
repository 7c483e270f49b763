import type { ResourceState } from '../responses/resource.ts'

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

/** Why an answer ended. `broken`: one of its calls broke off, which is not told. */
export function finishReasonOf({ incompleteReason, nativeReason = '' }: ResourceState, broken: boolean): string {
  if (incompleteReason === 'max_output_tokens') return 'MAX_TOKENS'
  if (incompleteReason === 'content_filter') return WITHHELD.has(nativeReason) ? nativeReason : 'SAFETY'
  return broken ? 'MALFORMED_FUNCTION_CALL' : 'STOP'
}

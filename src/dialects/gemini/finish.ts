import type { FinishReason } from '../../core/event.ts'

/** A finish reason in the gateway's words, or a failure of the model. */
export type Finish = FinishReason | 'error'

const REASONS: { readonly [native: string]: Finish } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  // The most one request may write is reached: the answer goes on only in the next request.
  CONTINUATION: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  ESCALATION: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'error',
  MALFORMED_RESPONSE: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
  // The account was limited: its own fault, and no other connection's.
  PUP_LIMITED_DISABLED: 'error',
  // It wrote something else instead, or nothing.
  NO_IMAGE: 'stop',
  OTHER: 'error',
  IMAGE_OTHER: 'error',
}

/** A word nobody knows is taken for a normal stop: whether there is an answer decides then. */
export function mapFinish(native: string): Finish {
  return Object.hasOwn(REASONS, native) ? REASONS[native]! : 'stop'
}

/** Says nothing about why an answer ended. */
export function isUnspecified(native: string): boolean {
  return native === '' || native === 'FINISH_REASON_UNSPECIFIED'
}

/** Old models put this reason on every chunk, so it ends an answer only if no other reason is given. */
export function isBareStop(native: string): boolean {
  return native === 'STOP'
}

/** Old models put STOP on every chunk; a later word that says more wins. */
export function strongerFinish(before: string | undefined, now: string): string {
  return before === undefined || isBareStop(before) ? now : before
}

import type { FinishReason } from '../../core/event.ts'

/** A finish reason of the gateway, or a failure of the model. */
export type Finish = FinishReason | 'error'

const REASONS: { readonly [native: string]: Finish } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  // The limit of one request is reached: the answer continues only in the next request.
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
  // The account is limited, which is its own fault and does not affect other connections.
  PUP_LIMITED_DISABLED: 'error',
  // The model wrote something else instead, or nothing.
  NO_IMAGE: 'stop',
  OTHER: 'error',
  IMAGE_OTHER: 'error',
}

/** An unknown reason counts as a normal stop; whether there is an answer is checked then. */
export function mapFinish(native: string): Finish {
  return Object.hasOwn(REASONS, native) ? REASONS[native]! : 'stop'
}

const OF_THE_MODEL: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])

/** Whether a failure is something that the model wrote, as a prompt may ask it to: a call although it was given no tools. */
export const isOfModel = (native: string): boolean => OF_THE_MODEL.has(native)

/** Whether the reason says nothing about why an answer ended. */
export function isUnspecified(native: string): boolean {
  return native === '' || native === 'FINISH_REASON_UNSPECIFIED'
}

/** Whether it is the reason that old models put on every chunk. It ends an answer only if no other reason follows. */
export function isBareStop(native: string): boolean {
  return native === 'STOP'
}

/** Old models put STOP on every chunk, so a later and more specific reason wins. */
export function strongerFinish(before: string | undefined, now: string): string {
  return before === undefined || isBareStop(before) ? now : before
}

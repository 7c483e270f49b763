import type { FinishReason } from '../../core/event.ts'

const REASONS: { readonly [native: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  compaction: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
}

/** A stop reason in the gateway's words; `paused` is an answer the upstream wants to be asked to finish. A word nobody knows is a normal stop. */
export function mapStopReason(native: string | undefined): FinishReason | 'paused' {
  if (native === 'pause_turn') return 'paused'
  return native !== undefined && Object.hasOwn(REASONS, native) ? REASONS[native]! : 'stop'
}

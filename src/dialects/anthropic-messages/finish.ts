import type { FinishReason } from '../../core/event.ts'

const REASONS: { readonly [native: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  compaction: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  // Unless somebody asks it to go on.
  pause_turn: 'length',
  refusal: 'refusal',
}

/** The word for an answer the upstream wants to be asked to finish: its own tools have run for long. */
export const PAUSED = 'pause_turn'

/** A stop reason in the gateway's words. A word nobody knows is a normal stop. */
export function mapStopReason(native: string | undefined): FinishReason {
  return native !== undefined && Object.hasOwn(REASONS, native) ? REASONS[native]! : 'stop'
}

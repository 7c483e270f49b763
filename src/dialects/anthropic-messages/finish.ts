import type { FinishReason } from '../../core/event.ts'

const REASONS: { readonly [native: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  compaction: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  // Unless the caller asks the model to continue.
  pause_turn: 'length',
  refusal: 'refusal',
}

/** The stop reason of an answer that the upstream wants to continue in another request, because its own tools have run for long. */
export const PAUSED = 'pause_turn'

/** Maps a stop reason to the gateway's. An unknown one counts as a normal stop. */
export function mapStopReason(native: string | undefined): FinishReason {
  return native !== undefined && Object.hasOwn(REASONS, native) ? REASONS[native]! : 'stop'
}

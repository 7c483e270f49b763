import type { FinishReason } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'

/** A finish reason of the gateway, or the failure that it stands for. */
export type Finish = FinishReason | 'error' | 'overloaded'

const COMMON: { readonly [native: string]: Finish } = {
  stop: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  complete: 'stop',
  completed: 'stop',
  end: 'stop',
  done: 'stop',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  tool_calls_required: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  max_completion_tokens: 'length',
  model_length: 'length',
  token_limit: 'length',
  model_context_window_exceeded: 'length',
  context_length_exceeded: 'length',
  content_filter: 'content_filter',
  content_filtered: 'content_filter',
  safety: 'content_filter',
  sensitive: 'content_filter',
  recitation: 'content_filter',
  blocklist: 'content_filter',
  prohibited_content: 'content_filter',
  guardrail_intervened: 'content_filter',
  moderation: 'content_filter',
  refusal: 'refusal',
  error: 'error',
  abort: 'error',
  aborted: 'error',
  cancelled: 'error',
  network_error: 'error',
  timeout: 'error',
  malformed_function_call: 'error',
  unexpected_tool_call: 'error',
  insufficient_system_resource: 'overloaded',
  overloaded: 'overloaded',
}

const CUTS: ReadonlySet<Finish | undefined> = new Set<Finish>(['length', 'content_filter', 'refusal'])

/** Some servers write `stop` next to every piece and only then the reason why the answer was cut off, which is more specific. */
export function strongerFinish(before: string | undefined, now: string, declared: { readonly [native: string]: Finish }): string {
  if (before === undefined) return now
  const was = mapFinish(before, declared)
  return (was === undefined || was === 'stop' || was === 'tool_calls') && CUTS.has(mapFinish(now, declared)) ? now : before
}

/** Undefined for an undeclared reason. */
export function mapFinish(native: string, declared: { readonly [native: string]: Finish }): Finish | undefined {
  if (Object.hasOwn(declared, native)) return declared[native]
  const word = native.toLowerCase()
  if (Object.hasOwn(COMMON, word)) return COMMON[word]
  // A server whose reason does not exist in this format writes the name of its filter, followed by its own reason.
  const part = word
    .split(':')
    .map((each) => each.trim())
    .find((each) => Object.hasOwn(COMMON, each))
  return part === undefined ? undefined : COMMON[part]
}

/** Some servers have separate fields for the sequence that ended the text: one of the caller's, or a token that nobody asked for. */
export function stopSequenceIn(choice: { readonly [field: string]: unknown }, request: ModelRequest): string | undefined {
  const reported = choice['stop_reason'] ?? choice['matched_stop']
  const requested = request['stop'] ?? request['stop_sequences']
  return typeof reported === 'string' && (Array.isArray(requested) ? requested.includes(reported) : requested === reported) ? reported : undefined
}

import type { Target } from '../../core/dialect.ts'
import type { ModelRequest } from '../../core/request.ts'
import { replaying, type OpenAiChatOptions } from './options.ts'

type ChatTarget = Target<OpenAiChatOptions>

/** The endpoint with the options that it turned out to require for this request. */
export function withRequiredOptions({ told_as: form }: ModelRequest, endpoint: ChatTarget): ChatTarget {
  const target = replaying(endpoint)
  if (form === undefined) return target
  const { options } = target
  return {
    ...target,
    options: {
      ...options,
      ...(form.alternating === true ? { alternating_roles: true, system_role: 'first-only' as const } : {}),
      ...(form.systemless === true ? { system_role: 'none' as const } : {}),
      ...(form.bounded_anew === true ? { max_tokens_field: 'max_completion_tokens' as const } : {}),
      ...(form.unmarked === true ? { cache_breakpoints: false } : {}),
      ...(form.uncounted === true ? { stream_usage: false } : {}),
      ...(form.reasoned === true ? { reasoning_replay: 'reasoning_content' as const, reasoning_replay_required: true } : {}),
    },
  }
}

import type { Target } from '../../core/dialect.ts'
import type { ModelRequest } from '../../core/request.ts'
import { replaying, type OpenAiChatOptions } from './options.ts'

type ChatTarget = Target<OpenAiChatOptions>

/** The endpoint with the options that it turned out to require for this request. */
export function withRequiredOptions({ request_forms: form }: ModelRequest, endpoint: ChatTarget): ChatTarget {
  const target = replaying(endpoint)
  if (form === undefined) return target
  const { options } = target
  return {
    ...target,
    options: {
      ...options,
      ...(form.alternating === true ? { alternating_roles: true, system_role: 'first-only' as const } : {}),
      ...(form.no_system_role === true ? { system_role: 'none' as const } : {}),
      ...(form.max_completion_tokens === true ? { max_tokens_field: 'max_completion_tokens' as const } : {}),
      ...(form.no_cache_control === true ? { cache_breakpoints: false } : {}),
      ...(form.no_stream_options === true ? { stream_usage: false } : {}),
      ...(form.reasoning_replayed === true ? { reasoning_replay: 'reasoning_content' as const, reasoning_replay_required: true } : {}),
    },
  }
}

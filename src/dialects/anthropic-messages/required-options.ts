import type { ModelRequest } from '../../core/request.ts'
import { isThought, type Message } from './messages.ts'
import type { MessagesTarget } from './options.ts'

/** The endpoint with what its refusals have revealed: one that requires the thoughts before calls accepts them unsigned. */
export function withRequiredOptions({ request_forms: form }: ModelRequest, target: MessagesTarget): MessagesTarget {
  if (form === undefined) return target
  return {
    ...target,
    options: {
      ...target.options,
      ...(form.reasoning_replayed === true ? { unsigned_thinking: true } : {}),
      ...(form.no_cache_control === true ? { cache_control: 'none' as const } : {}),
    },
  }
}

/** Adds thoughts before every call for an endpoint that requires them; a blank replaces those that are lost. */
export function thinkBeforeCalls({ request_forms: form }: ModelRequest, messages: readonly Message[]): void {
  if (form?.reasoning_replayed !== true) return
  for (const { role, content } of messages) {
    if (role !== 'assistant' || !content.some(({ type }) => type === 'tool_use')) continue
    if (!content.some(isThought)) content.unshift({ type: 'thinking', thinking: ' ' })
    for (const block of content) if (block.type === 'thinking') block['signature'] ??= ''
  }
}

import type { ModelRequest } from '../../core/request.ts'
import { isThought, type Message } from './messages.ts'
import type { MessagesTarget } from './options.ts'

/** The endpoint as its refusals have shown it: one that wants the thoughts before calls back takes them unsigned. */
export function inForm({ told_as: form }: ModelRequest, target: MessagesTarget): MessagesTarget {
  if (form === undefined) return target
  return {
    ...target,
    options: {
      ...target.options,
      ...(form.reasoned === true ? { unsigned_thinking: true } : {}),
      ...(form.unmarked === true ? { cache_control: 'none' as const } : {}),
    },
  }
}

/** Reasoning before every call, for endpoints that require it; a blank stands for reasoning that is no longer available. */
export function thinkBeforeCalls({ told_as: form }: ModelRequest, messages: readonly Message[]): void {
  if (form?.reasoned !== true) return
  for (const { role, content } of messages) {
    if (role !== 'assistant' || !content.some(({ type }) => type === 'tool_use')) continue
    if (!content.some(isThought)) content.unshift({ type: 'thinking', thinking: ' ' })
    for (const block of content) if (block.type === 'thinking') block['signature'] ??= ''
  }
}

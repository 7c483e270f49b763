import type { GenerationContent } from '../../core/generation.ts'
import { parseArguments } from './call-arguments.ts'
import { messageText, toChatAnswer, toChatMessages, type ChatMessage } from './chat-shape.ts'

/** Messages as the OpenTelemetry GenAI conventions write them: a role and typed parts. */
interface OtelMessage {
  readonly role: string
  readonly parts: readonly { readonly [field: string]: unknown }[]
  readonly finish_reason?: string
}

/** System and developer messages are separate, as `gen_ai.system_instructions`. */
export function toOtelInput(content: GenerationContent): {
  readonly messages: readonly OtelMessage[]
  readonly instructions: readonly { readonly type: 'text'; readonly content: string }[]
} {
  const messages: OtelMessage[] = []
  const instructions: { type: 'text'; content: string }[] = []
  for (const message of toChatMessages(content)) {
    if (message.role === 'system' || message.role === 'developer') instructions.push({ type: 'text', content: messageText(message) })
    else messages.push({ role: message.role, parts: toParts(message) })
  }
  return { messages, instructions }
}

export function toOtelOutput(content: GenerationContent, finishReason: string | undefined): readonly OtelMessage[] {
  const answer = toChatAnswer(content)
  return [{ role: 'assistant', parts: toParts(answer), ...(finishReason === undefined ? {} : { finish_reason: finishReason }) }]
}

function toParts(message: ChatMessage): OtelMessage['parts'] {
  if (message.role === 'tool') {
    const text = messageText(message)
    // Readers that follow the examples of the conventions expect `result`; by their schema it is `response`.
    return [{ type: 'tool_call_response', id: message.tool_call_id, response: text, result: text }]
  }
  const parts: { [field: string]: unknown }[] = []
  if (message.reasoning !== undefined) parts.push({ type: 'reasoning', content: message.reasoning })
  if (typeof message.content === 'string') parts.push({ type: 'text', content: message.content })
  else {
    for (const part of message.content ?? []) {
      if (part.type === 'text') parts.push({ type: 'text', content: part.text })
      else if (part.type === 'image_url') parts.push({ type: 'uri', modality: 'image', uri: part.image_url.url })
      else parts.push({ type: 'file', ...part.file })
    }
  }
  if (message.refusal !== undefined) parts.push({ type: 'refusal', content: message.refusal })
  for (const call of message.tool_calls ?? [])
    parts.push({ type: 'tool_call', id: call.id, name: call.function.name, arguments: toArguments(call.function.arguments) })
  return parts
}

/** Arguments as an object; what cannot be parsed stays text. */
function toArguments(text: string): unknown {
  const value = parseArguments(text)
  return value === undefined ? text : value
}

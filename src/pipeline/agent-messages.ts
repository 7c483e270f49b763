import type { InputItem, InputPart, MessageItem } from '../core/item.ts'
import { isSealed } from '../core/opaque-field.ts'

interface AgentMessage {
  readonly type: 'agent_message'
  readonly content: readonly (InputPart | { readonly type: 'encrypted_content'; readonly encrypted_content: string })[]
}

/** What one agent of the caller says to another: a task, or its result. */
export const isAgentMessage = (item: InputItem): item is InputItem & AgentMessage => item.type === 'agent_message' && Array.isArray(item['content'])

/** The types of message parts, which the door has checked. Typed as a record so that the compiler reports a missing one. */
const PARTS: { readonly [type in InputPart['type']]: true } = {
  input_text: true,
  input_image: true,
  input_file: true,
  input_audio: true,
  input_video: true,
  output_text: true,
  refusal: true,
}

/** The message for formats without agents: the user's words. What its maker sealed can be read by nobody else and is left out. */
export function agentMessageAsUser({ content }: AgentMessage): readonly MessageItem[] {
  const parts = content.flatMap((part) => partFor(part))
  return parts.length === 0 ? [] : [{ type: 'message', role: 'user', content: parts }]
}

/** Of a part of an unknown type only the text can be used. */
function partFor(part: AgentMessage['content'][number]): readonly InputPart[] {
  if (part.type === 'encrypted_content') return isSealed(part.encrypted_content) ? [] : [{ type: 'input_text', text: part.encrypted_content }]
  if (Object.hasOwn(PARTS, part.type)) return [part]
  const { text } = part as { readonly text?: unknown }
  return typeof text === 'string' ? [{ type: 'input_text', text }] : []
}

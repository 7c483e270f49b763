import type { InputItem, InputPart, MessageItem } from '../core/item.ts'
import { isSealed } from '../core/opaque-field.ts'

interface AgentMessage {
  readonly type: 'agent_message'
  readonly content: readonly (InputPart | { readonly type: 'encrypted_content'; readonly encrypted_content: string })[]
}

/** What one agent of the caller says to another: a task, or what came of it. */
export const isAgentMessage = (item: InputItem): item is InputItem & AgentMessage => item.type === 'agent_message' && Array.isArray(item['content'])

/** Parts of messages, which the door has checked. The record tells the compiler when one is missing. */
const PARTS: { readonly [type in InputPart['type']]: true } = {
  input_text: true,
  input_image: true,
  input_file: true,
  input_audio: true,
  input_video: true,
  output_text: true,
  refusal: true,
}

/** The message as formats without agents know it: words of the user. What its maker sealed is for nobody else and stays out. */
export function agentMessageAsUser({ content }: AgentMessage): readonly MessageItem[] {
  const parts = content.flatMap((part) => partFor(part))
  return parts.length === 0 ? [] : [{ type: 'message', role: 'user', content: parts }]
}

/** A part of a type nobody knows is worth its text: dialects have no words for anything else of it. */
function partFor(part: AgentMessage['content'][number]): readonly InputPart[] {
  if (part.type === 'encrypted_content') return isSealed(part.encrypted_content) ? [] : [{ type: 'input_text', text: part.encrypted_content }]
  if (Object.hasOwn(PARTS, part.type)) return [part]
  const { text } = part as { readonly text?: unknown }
  return typeof text === 'string' ? [{ type: 'input_text', text }] : []
}

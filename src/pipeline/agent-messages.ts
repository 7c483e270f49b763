import type { InputItem, InputPart, MessageItem } from '../core/item.ts'
import { isSealed } from '../core/opaque-field.ts'

interface AgentMessage {
  readonly type: 'agent_message'
  readonly content: readonly (InputPart | { readonly type: 'encrypted_content'; readonly encrypted_content: string })[]
}

/** What one agent of the caller says to another: a task, or what came of it. */
export const isAgentMessage = (item: InputItem): item is InputItem & AgentMessage => item.type === 'agent_message' && Array.isArray(item['content'])

/** The message as formats without agents know it: words of the user. What its maker sealed is for nobody else and stays out. */
export function agentMessageAsUser({ content }: AgentMessage): readonly MessageItem[] {
  const parts: InputPart[] = []
  for (const part of content) {
    if (part.type !== 'encrypted_content') parts.push(part)
    else if (!isSealed(part.encrypted_content)) parts.push({ type: 'input_text', text: part.encrypted_content })
  }
  return parts.length === 0 ? [] : [{ type: 'message', role: 'user', content: parts }]
}

import type { JsonObject } from '../../core/item.ts'
import { joinTexts } from '../shared/content-parts.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject, wholeArguments } from '../shared/json.ts'
import type { AssistantPart, Conversation, ToolResult } from '../shared/conversation.ts'
import { canEncode, encodePart } from './content.ts'
import type { CohereTarget, Documents } from './content.ts'

export type CohereMessage = { readonly role: string; readonly [field: string]: unknown }

/** The kinds of reasoning in an envelope that this format sealed: they tell in which field the text goes back. */
export const PLAN = 'tool_plan'
export const THINKING = 'thinking'

/** The conversation as messages; files are added to `documents`. `extraSystem` is text from the encoder. */
export function encodeMessages(
  conversation: Conversation,
  target: CohereTarget,
  extraSystem: readonly string[],
  documents: Documents,
): CohereMessage[] {
  const system = [...conversation.system.map(({ parts }) => joinTexts(parts)), ...extraSystem].filter((text) => text.trim() !== '').join('\n\n')
  const messages: CohereMessage[] = system === '' ? [] : [{ role: 'system', content: system }]
  const user = (parts: readonly ContentPart[]): void => {
    const content = userContent(parts, target, documents)
    if (content.length > 0) messages.push({ role: 'user', content })
  }
  /** Media of tool results, which go into the next user message. */
  let attachments: ContentPart[] = []
  for (const turn of conversation.turns) {
    if (turn.role === 'user') user([...attachments, ...turn.parts])
    else if (attachments.length > 0) user(attachments)
    attachments = []
    if (turn.role === 'assistant') messages.push(...assistantMessage(turn.parts, target))
    else if (turn.role === 'tool') attachments = toolMessages(turn.results, target, messages)
    else if (turn.role !== 'user') messages.push({ role: 'system', content: joinTexts(turn.parts) })
  }
  if (attachments.length > 0) user(attachments)
  if (!messages.some(({ role }) => role !== 'system')) messages.push({ role: 'user', content: 'Continue.' })
  return messages
}

/** A single string if there is only text. */
function userContent(parts: readonly ContentPart[], target: CohereTarget, documents: Documents): string | JsonObject[] {
  const texts = parts.filter((part) => part.type === 'input_text')
  if (texts.length === parts.length) return joinTexts(texts)
  const blocks = parts.flatMap((part) => encodePart(part, target, documents))
  // A message needs text even if it contains only documents.
  return blocks.some(({ type }) => type === 'text') ? blocks : [{ type: 'text', text: 'See the attachment.' }, ...blocks]
}

function assistantMessage(parts: readonly AssistantPart[], target: CohereTarget): CohereMessage[] {
  const { reasoning_replay: replay } = target.options
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  const calls = parts.filter((part) => part.type === 'call')
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }]
  const reasoning = parts.filter((part) => part.type === 'reasoning')
  const plan = reasoning.filter(({ data }) => data === PLAN && replay !== 'none').map((part) => part.text)
  const thoughts = reasoning.filter(({ data }) => data === THINKING && replay === 'all')
  // In a message with tool calls the text becomes the plan, because such a message has no text.
  const toolPlan = [...plan, ...(text === '' ? [] : [text])].join('\n\n')
  return [
    {
      role: 'assistant',
      ...(toolPlan === '' ? {} : { tool_plan: toolPlan }),
      ...(thoughts.length === 0 ? {} : { content: thoughts.map((part) => ({ type: 'thinking', thinking: part.text })) }),
      tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: wholeArguments(call.arguments) } })),
    },
  ]
}

/** One message per call, in the order of the calls. Returns the media that must follow as the user's. */
function toolMessages(results: readonly ToolResult[], target: CohereTarget, messages: CohereMessage[]): ContentPart[] {
  const attachments: ContentPart[] = []
  for (const { callId, parts } of results) {
    const texts: string[] = []
    for (const part of parts) {
      if (part.type === 'input_text') texts.push(part.text)
      else if (canEncode(part, target)) {
        texts.push('[The attachment follows below.]')
        attachments.push(part)
      } else texts.push('[The tool also returned media this model cannot read.]')
    }
    const text = texts.join('\n')
    messages.push({
      role: 'tool',
      tool_call_id: callId,
      content: (target.options.tool_result_documents ? asDocuments(text) : undefined) ?? (text === '' ? '(no output)' : text),
    })
  }
  return attachments
}

/** A list of objects as documents, under their own ids or URLs; undefined for anything else. */
function asDocuments(text: string): JsonObject[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined
  const list = parseExact(text)
  if (!Array.isArray(list) || list.length === 0 || !list.every(isObject)) return undefined
  return list.map((data) => {
    const id = asString(data['id']) ?? asString(data['url'])
    return { type: 'document', document: { ...(id === undefined ? {} : { id }), data } }
  })
}

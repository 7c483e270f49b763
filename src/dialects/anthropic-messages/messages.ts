import type { CacheMarked } from '../../core/item.ts'
import { joinTexts } from '../shared/content-parts.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { isObject } from '../shared/json.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import { failureOf } from '../shared/failed-result.ts'
import type { AssistantPart, CallPart, Conversation, ToolResult, Turn } from '../shared/conversation.ts'
import { encodePart, markOf, tryEncodePart } from './content.ts'
import type { Block } from './content.ts'
import { rulesFor } from './options.ts'
import type { MessagesTarget } from './options.ts'
import { blocksOfItem, blocksOfReasoning, holdsBlocks, isServerBlock, replayable } from './server-blocks.ts'

export interface Message {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: Block[]
}

const CONTINUE: Block = { type: 'text', text: 'Continue.' }

/** The system prompt as text blocks; `extra` is text from the encoder. */
export function encodeSystem(conversation: Conversation, target: MessagesTarget, extra: readonly string[]): Block[] {
  const blocks = conversation.system.flatMap(({ parts }) => encodeParts(parts, target))
  return [...blocks, ...extra.map((text) => ({ type: 'text', text }))]
}

function encodeParts(parts: readonly ContentPart[], target: MessagesTarget): Block[] {
  return parts.map((part) => encodePart(part, target)).filter((block) => block !== undefined)
}

/**
 * The turns as alternating messages, starting with the user's. Tool results begin the message that follows their calls; turns without content are
 * dropped. `toolNames` are the tools of this request.
 */
export function encodeMessages(turns: readonly Turn[], target: MessagesTarget, toolNames: ReadonlySet<string>): Message[] {
  const messages: Message[] = []
  const add = (role: Message['role'], content: Block[]): void => {
    if (content.length === 0) return
    const last = messages.at(-1)
    if (last?.role === role) for (const block of content) last.content.push(block)
    else messages.push({ role, content })
  }
  const assistantContent = assistantBlocksOf(turns, target, toolNames)
  for (const turn of turns) {
    if (turn.role === 'assistant') add('assistant', assistantContent.get(turn) ?? [])
    else if (turn.role === 'tool')
      add(
        'user',
        turn.results.map((result) => toolResult(result, target)),
      )
    else if (turn.role === 'user') add('user', encodeParts(turn.parts, target))
    else add('system', encodeParts(turn.parts, target))
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [{ ...CONTINUE }] })
  return messages
}

/**
 * Makes a conversation that ends with the assistant acceptable. If prefill is allowed, the answer is continued, without trailing whitespace and
 * without thoughts, which may not be there. Otherwise a user message asks to continue. An answer that stopped within the server's own tools is
 * continued unchanged.
 */
export function finishPrefill(messages: Message[], allowed: boolean, dropped: string[]): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || isServerBlock(last.content.at(-1)!)) return
  if (!allowed) {
    messages.push({ role: 'user', content: [{ ...CONTINUE }] })
    dropped.push('input: an answer begun is not continued but followed')
    return
  }
  const content = last.content.filter((block) => !isThought(block))
  const text = content.at(-1)
  if (text?.type === 'text') text['text'] = String(text['text']).trimEnd()
  if (content.length === 0) messages.pop()
  else {
    last.content.length = 0
    for (const block of content) last.content.push(block)
  }
}

// ---- assistant ----

/** The blocks of each assistant turn. The last turn is open as long as only results of the caller's own tools follow it. */
function assistantBlocksOf(turns: readonly Turn[], target: MessagesTarget, toolNames: ReadonlySet<string>): ReadonlyMap<Turn, Block[]> {
  const own = turns.flatMap((turn) => (turn.role === 'assistant' ? [{ turn, blocks: assistantBlocks(turn.parts, target) }] : []))
  const last = own.at(-1)
  const next = last === undefined ? undefined : turns[turns.indexOf(last.turn) + 1]
  const open = next === undefined || next.role === 'tool' ? last?.blocks : undefined
  const kept = replayable(
    own.map(({ blocks }) => blocks),
    toolNames,
    open,
  )
  return new Map(own.map(({ turn }, at) => [turn, withoutLooseThoughts(kept[at]!)]))
}

/** Thoughts without a result (of an answer that was cut off) may not end a message. */
const withoutLooseThoughts = (blocks: Block[]): Block[] => blocks.slice(0, blocks.findLastIndex((block) => !isThought(block)) + 1)

function assistantBlocks(parts: readonly AssistantPart[], target: MessagesTarget): Block[] {
  const blocks: Block[] = []
  for (const part of parts) {
    if (part.type === 'text') {
      if (part.text.trim() !== '') blocks.push({ type: 'text', text: part.text, ...markOf(part, target) })
    } else if (part.type === 'call') blocks.push({ ...toolUse(part), ...markOf(part, target) })
    else if (part.type === 'item') blocks.push(...(blocksOfItem(part.item, target) ?? []))
    else blocks.push(...reasoningBlocks(part))
  }
  return blocks
}

export const isThought = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'

function reasoningBlocks(part: ReasoningPart): readonly Block[] {
  if (holdsBlocks(part)) return blocksOfReasoning(part)
  if (part.data !== undefined) return [{ type: 'redacted_thinking', data: part.data }]
  // A gateway that shows thoughts as a summary has their text there.
  const thinking = part.text === '' ? part.summary : part.text
  return [{ type: 'thinking', thinking, ...(part.signature === undefined ? {} : { signature: part.signature }) }]
}

function toolUse(call: CallPart): Block {
  const input = parseExact(call.arguments)
  const { toolset } = call
  return {
    type: 'tool_use',
    id: call.id,
    name: call.name,
    ...(toolset === undefined ? {} : { toolset_name: toolset }),
    input: isObject(input) ? input : { _raw: call.arguments },
  }
}

/** Whether this endpoint can read a piece of reasoning: signed or opaque thoughts of its format, from a provider that shares its keys. */
export function isReadable(part: ReasoningPart, target: MessagesTarget): boolean {
  const { options } = target
  if (rulesFor(target).thinking === 'none' && !holdsBlocks(part)) return false
  if (part.format !== options.reasoning_format)
    return options.unsigned_thinking && part.signature === undefined && part.data === undefined && part.text !== ''
  if (part.data === undefined && part.signature === undefined) return options.unsigned_thinking && part.text !== ''
  const exact = options.signature_scope === 'endpoint' || holdsBlocks(part)
  return part.scope === undefined || part.scope === target.scope || !exact
}

/** Whether the conversation ends in a tool loop whose first turn does not begin with the thoughts that led to it. */
export function isLoopWithoutThinking(messages: readonly Message[]): boolean {
  let first: Message | undefined
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.role === 'assistant') first = message
    // Tool results continue an assistant turn, whatever else the user says next to them.
    else if (!message.content.some(({ type }) => type === 'tool_result')) break
  }
  if (first === undefined || !first.content.some(({ type }) => type === 'tool_use')) return false
  return !isThought(first.content[0]!)
}

// ---- results of tools ----

function toolResult(result: ToolResult, target: MessagesTarget): Block {
  const { failed, parts } = failureOf(result)
  const content = resultContent(parts, target)
  const marked = result.parts.findLast(isMarked)
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    ...(content === undefined ? {} : { content }),
    ...(failed ? { is_error: true } : {}),
    // The result carries the breakpoint of any of its parts: inside the content it would not be counted towards the endpoint's limit.
    ...(marked === undefined ? {} : markOf(marked, target)),
  }
}

/** Text that is only whitespace has no block, so its breakpoint is dropped with it. */
const isMarked = (part: ContentPart): part is ContentPart & CacheMarked =>
  'prompt_cache_breakpoint' in part && part.prompt_cache_breakpoint != null && (part.type !== 'input_text' || part.text.trim() !== '')

/** A single string if there is only text, otherwise blocks. Unsupported parts are named in the text. */
function resultContent(parts: readonly ContentPart[], target: MessagesTarget): string | Block[] | undefined {
  if (parts.every((part) => part.type === 'input_text' && part.cited === undefined)) {
    const text = joinTexts(parts)
    return text === '' ? undefined : text
  }
  const blocks: Block[] = []
  let unreadable = 0
  for (const part of parts) {
    const block = tryEncodePart(part, target)
    if (block !== undefined) {
      delete block['cache_control']
      blocks.push(block)
    } else if (part.type !== 'input_text') unreadable++
  }
  if (unreadable > 0) {
    const what = `${unreadable} ${unreadable === 1 ? 'attachment' : 'attachments'}`
    blocks.push({ type: 'text', text: `[${what} left out: this model cannot read them]` })
  }
  return blocks
}

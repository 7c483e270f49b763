import { cacheMark, lastMark, markOf } from '../shared/cache-mark.ts'
import type { InputText, JsonObject } from '../../core/item.ts'
import type { Target } from '../../core/dialect.ts'
import { joinTexts } from '../shared/content-parts.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { joinNeighbours, OPENING_TURN } from '../shared/alternate-turns.ts'
import type { AssistantPart, CallPart, Conversation, ToolResult, Turn } from '../shared/conversation.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import { tryParseJson, wholeArguments } from '../shared/json.ts'
import { canEncode, encodePart, isImage } from './content.ts'
import { picturesOf } from './image-output.ts'
import { oneCallEach, takesSeveralCalls } from './one-call.ts'
import type { OpenAiChatOptions } from './options.ts'

export type ChatMessage = { readonly role: string; readonly [field: string]: unknown }

type ChatTarget = Target<OpenAiChatOptions>

/** The conversation as chat messages. `extraSystem` is text from the encoder (a schema, the word JSON). */
export function encodeMessages(original: Conversation, target: ChatTarget, extraSystem: readonly string[]): ChatMessage[] {
  const { options } = target
  const hasRole = options.system_role !== 'none'
  const conversation = hasRole ? original : withoutSystem(original, extraSystem)
  const messages = systemMessages(conversation, options, hasRole ? extraSystem : [])
  const filler = (): void => {
    if (options.user_after_tool_filler !== null && messages.at(-1)?.role === 'tool')
      messages.push({ role: 'assistant', content: options.user_after_tool_filler })
  }
  const user = (parts: readonly ContentPart[]): void => {
    filler()
    messages.push({ role: 'user', content: encodeContent(parts, target) })
  }
  /** Media of tool results, which go into the next user message. */
  let attachments: ContentPart[] = []
  const turns = takesSeveralCalls(options, target.upstreamModel) ? conversation.turns : oneCallEach(conversation.turns)
  for (const turn of withoutSilentTurns(turns, target)) {
    if (turn.role === 'user') user([...attachments, ...turn.parts])
    else if (attachments.length > 0) user(attachments)
    attachments = []
    if (turn.role === 'assistant') messages.push(assistantMessage(turn.parts, options, target.scope))
    else if (turn.role === 'tool') attachments = toolMessages(turn.results, target, messages)
    else if (turn.role !== 'user') messages.push({ role: systemRole(turn.role, options), content: encodeContent(turn.parts, target) })
  }
  if (attachments.length > 0) user(attachments)
  // No server answers an empty list, and many templates fail with only a system message.
  if (messages.every(({ role }) => role === 'system' || role === 'developer')) user([OPENING_TURN])
  return markPrefill(messages, options.prefill_field)
}

/**
 * Drops assistant turns that contain only reasoning which this server does not get back (an answer that was cut off while it was thinking), because
 * they would become empty messages. User turns that are then adjacent are merged if roles must alternate.
 */
function withoutSilentTurns(turns: readonly Turn[], { options, scope }: ChatTarget): Turn[] {
  const kept = turns.filter((turn) => turn.role !== 'assistant' || !isSilent(turn.parts, options, scope))
  return options.alternating_roles ? joinNeighbours(kept, ['user']) : kept
}

function isSilent(parts: readonly AssistantPart[], options: OpenAiChatOptions, scope: string): boolean {
  const reasoning = parts.filter((part) => part.type === 'reasoning')
  return reasoning.length === parts.length && Object.keys(replayFields(reasoning, false, '', options, scope)).length === 0
}

/** The system text is put at the beginning of the first user message. */
function withoutSystem(conversation: Conversation, extra: readonly string[]): Conversation {
  const { system, turns } = conversation
  const systemParts: readonly ContentPart[] = [
    ...system.flatMap(({ parts }) => parts),
    ...extra.map((text): ContentPart => ({ type: 'input_text', text })),
  ]
  if (systemParts.length === 0) return conversation
  const [first, ...rest] = turns
  const begun: readonly Turn[] =
    first?.role === 'user' ? [{ role: 'user', parts: [...systemParts, ...first.parts] }, ...rest] : [{ role: 'user', parts: systemParts }, ...turns]
  return { ...conversation, system: [], turns: begun }
}

/** Marks a prefilled answer if the server has a field for it. */
function markPrefill(messages: ChatMessage[], field: string | undefined): ChatMessage[] {
  const last = messages.at(-1)
  if (field === undefined || last?.role !== 'assistant' || last['tool_calls'] !== undefined) return messages
  return [...messages.slice(0, -1), { ...last, [field]: true }]
}

function systemRole(role: 'system' | 'developer', options: OpenAiChatOptions): string {
  return options.system_role === 'developer' ? 'developer' : role === 'developer' ? 'system' : role
}

function systemMessages(conversation: Conversation, options: OpenAiChatOptions, extra: readonly string[]): ChatMessage[] {
  const parts = conversation.system.map((part) => part.parts)
  const added = extra.map((text): InputText => ({ type: 'input_text', text }))
  if (options.system_role === 'first-only') {
    const content = textContent([...parts.flat(), ...added], options)
    return content.length === 0 ? [] : [{ role: 'system', content }]
  }
  return [...parts, ...added.map((text) => [text])].map((list) => ({ role: systemRole('system', options), content: textContent(list, options) }))
}

/** A single string if there is only text, because many servers accept nothing else. Breakpoints require parts. */
function textContent(parts: readonly InputText[], options: OpenAiChatOptions): string | JsonObject[] {
  if (!options.cache_breakpoints || parts.every((part) => part.prompt_cache_breakpoint == null)) return joinTexts(parts)
  return parts.map((part) => ({ type: 'text', text: part.text, ...cacheMark(part, true) }))
}

function encodeContent(parts: readonly ContentPart[], target: ChatTarget): string | JsonObject[] {
  const texts = parts.filter((part) => part.type === 'input_text')
  if (texts.length === parts.length) return textContent(texts, target.options)
  const encoded = (target.options.cache_breakpoints ? marksOnTexts(parts) : parts).flatMap((part) => encodePart(part, target))
  // Text files may have become text.
  const isPlain = encoded.every((part) => part['type'] === 'text' && part['cache_control'] === undefined)
  return isPlain ? encoded.map((part) => String(part['text'])).join('\n\n') : encoded
}

/** Servers look for breakpoints on texts alone, so the breakpoint of a picture or a file goes to the text before it. */
function marksOnTexts(parts: readonly ContentPart[]): readonly ContentPart[] {
  const moved = [...parts]
  let before = -1
  for (const [at, part] of parts.entries()) {
    if (part.type === 'input_text') before = at
    else if (before !== -1 && 'prompt_cache_breakpoint' in part && part.prompt_cache_breakpoint != null)
      moved[before] = { ...(parts[before] as InputText), ...markOf(part) }
  }
  return moved
}

/** A single text; it becomes a part if any of its sources has a breakpoint. */
function markedText(text: string, from: readonly object[], options: OpenAiChatOptions): string | JsonObject[] {
  const mark = options.cache_breakpoints && text !== '' ? cacheMark(lastMark(from), true) : {}
  return mark.cache_control === undefined ? text : [{ type: 'text', text, ...mark }]
}

// ---- assistant ----

function assistantMessage(parts: readonly AssistantPart[], options: OpenAiChatOptions, scope: string): ChatMessage {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  const calls = parts.filter((part) => part.type === 'call')
  const reasoning = parts.filter((part) => part.type === 'reasoning')
  const content =
    text !== ''
      ? {
          content: markedText(
            text,
            parts.filter((part) => part.type === 'text' || part.type === 'call'),
            options,
          ),
        }
      : options.empty_content === 'omit' && calls.length > 0
        ? {}
        : { content: options.empty_content === 'null' ? null : '' }
  return {
    role: 'assistant',
    ...content,
    ...replayFields(reasoning, calls.length > 0, text, options, scope),
    ...picturesOf(parts),
    ...(calls.length === 0 ? {} : { tool_calls: toolCalls(calls, parts, options, scope) }),
  }
}

function toolCalls(calls: readonly CallPart[], parts: readonly AssistantPart[], options: OpenAiChatOptions, scope: string): JsonObject[] {
  const { tool_signature_path: path, tool_extra: member } = options
  const places = new Map<AssistantPart, number>(path.length > 0 || member !== null ? parts.map((part, at) => [part, at]) : [])
  const before = (call: CallPart, read: (part: ReasoningPart) => string | undefined): string | undefined =>
    signBefore(places.get(call)!, call === calls[0], parts, read)
  return calls.map((call) => {
    const encoded = { id: call.id, type: 'function', function: { name: call.name, arguments: wholeArguments(call.arguments) } }
    if (path.length > 0) {
      const signature = before(call, (part) => (part.scope === undefined || part.scope === scope ? part.signature : undefined))
      return signature === undefined ? encoded : { ...encoded, ...nest(path, signature) }
    }
    if (member === null) return encoded
    const extra = before(call, (part) => (part.signs === 'call' && part.scope === scope ? part.data : undefined))
    return extra === undefined ? encoded : { ...encoded, [member]: tryParseJson(extra) }
  })
}

/**
 * The signature before the call at this place signs it; a signature after all calls belongs to the first. `read` returns the signature of a part, if it
 * is one.
 */
function signBefore(
  at: number,
  isFirst: boolean,
  parts: readonly AssistantPart[],
  read: (part: ReasoningPart) => string | undefined,
): string | undefined {
  const usable = (part: AssistantPart | undefined): string | undefined => (part?.type === 'reasoning' ? read(part) : undefined)
  for (let index = at - 1; index >= 0 && parts[index]!.type !== 'call'; index--) {
    const sign = usable(parts[index])
    if (sign !== undefined) return sign
  }
  if (!isFirst) return undefined
  return parts
    .slice(parts.findLastIndex(({ type }) => type === 'call') + 1)
    .map(usable)
    .find((sign) => sign !== undefined)
}

function nest(path: readonly string[], value: string): JsonObject {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as JsonObject
}

/** Replaces lost reasoning: some servers that require reasoning also refuse an empty one. */
const LOST = ' '

/** Reasoning of an earlier turn, in the field in which this server expects it back. */
function replayFields(parts: readonly ReasoningPart[], hasCalls: boolean, text: string, options: OpenAiChatOptions, scope: string): JsonObject {
  const { reasoning_replay: field } = options
  if (field === 'none' || (!hasCalls && options.reasoning_replay_turns === 'tool-calls')) return {}
  const plain = parts
    .map((part) => part.text || part.summary)
    .filter((part) => part !== '')
    .join('\n\n')
  const required = options.reasoning_replay_required && hasCalls
  if (field === 'reasoning_content' || field === 'reasoning') return plain !== '' || required ? { [field]: plain || LOST } : {}
  if (field === 'thinking-part') {
    const thoughts = thinkingParts(parts, plain, scope)
    if (thoughts.length === 0) return {}
    return { content: text === '' ? thoughts : [...thoughts, { type: 'text', text }] }
  }
  const details = parts.flatMap((part) => replayDetails(part, scope))
  return details.length > 0 ? { reasoning_details: details } : {}
}

/** All thoughts as one part, unless this server has signed some of them: a signature covers the block that it came with. */
function thinkingParts(parts: readonly ReasoningPart[], plain: string, scope: string): JsonObject[] {
  const part = (text: string, more: JsonObject): JsonObject => ({
    type: 'thinking',
    thinking: text === '' ? [] : [{ type: 'text', text }],
    ...more,
    closed: true,
  })
  const signatureOf = (each: ReasoningPart): string | undefined => (each.scope === scope ? each.signature : undefined)
  if (!parts.some((each) => signatureOf(each) !== undefined)) return plain === '' ? [] : [part(plain, {})]
  return parts.flatMap((each) => {
    const [text, signature] = [each.text || each.summary, signatureOf(each)]
    return text === '' && signature === undefined ? [] : [part(text, signature === undefined ? {} : { signature })]
  })
}

/** The list as the server wrote it if the envelope contains it; otherwise rebuilt from the contract's plain fields. */
function replayDetails(part: ReasoningPart, scope: string): unknown[] {
  if (part.data !== undefined && part.scope === scope) {
    const details = tryParseJson(part.data)
    if (Array.isArray(details)) return details
  }
  if (part.text !== '')
    return [{ type: 'reasoning.text', text: part.text, ...(part.signature === undefined ? {} : { signature: part.signature }), format: part.format }]
  return part.summary === '' ? [] : [{ type: 'reasoning.summary', summary: part.summary, format: part.format }]
}

// ---- tool results ----

/** What the model is told of attachments that are not at their usual place. */
function note(count: number, where: string | undefined): string {
  if (count === 0) return ''
  const what = `${count} ${count === 1 ? 'attachment' : 'attachments'}`
  return where === undefined ? `[${what} left out: this model cannot read them]` : `[${what} ${where}]`
}

/** Writes one message per result, and returns the media that these cannot contain. */
function toolMessages(results: readonly ToolResult[], target: ChatTarget, messages: ChatMessage[]): ContentPart[] {
  const { options } = target
  const later: ContentPart[] = []
  for (const result of results) {
    const media = result.parts.filter((part) => part.type !== 'input_text')
    const usable = media.filter((part) => canEncode(part, options))
    const images = options.tool_result_images ? usable.filter(isImage) : []
    const inPlace = images.length > 0
    const others = inPlace ? usable.filter((part) => !isImage(part)) : usable
    const text = [joinTexts(result.parts), note(others.length, 'in the next user message'), note(media.length - usable.length, undefined)]
      .filter((part) => part !== '')
      .join('\n\n')
    const marked = markedText(text, result.parts, options)
    const words = typeof marked === 'string' ? [{ type: 'text', text }] : marked
    if (others.length > 0) later.push({ type: 'input_text', text: `Attachments of the result of ${result.name} (call ${result.callId}):` })
    for (const part of others) later.push(part)
    messages.push({
      role: 'tool',
      tool_call_id: result.callId,
      ...(options.tool_result_name ? { name: result.name } : {}),
      content: inPlace ? [...(text === '' ? [] : words), ...images.flatMap((part) => encodePart(part, target))] : marked,
    })
  }
  return later
}

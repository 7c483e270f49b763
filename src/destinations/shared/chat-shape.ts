import { callerCallsAmong } from '../../core/caller-call.ts'
import type { GenerationContent } from '../../core/generation.ts'
import {
  isFunctionTool,
  isKnownItem,
  type InputItem,
  type InputPart,
  type KnownItem,
  type OutputItem,
  type Tool,
  type ToolOutput,
} from '../../core/item.ts'
import { holdsPicture } from '../../core/picture-items.ts'

/**
 * Conversations in the shape of chat completions, which nearly every platform renders. Items of the Responses contract become messages, and the calls
 * of one turn are gathered in one assistant message. Media are placeholders already.
 */

export interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}
export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'file'; readonly file: { readonly filename?: string; readonly file_url?: string; readonly file_id?: string } }
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly ChatPart[] | null
  readonly reasoning?: string
  readonly refusal?: string
  readonly tool_calls?: readonly ChatToolCall[]
  readonly tool_call_id?: string
}
export interface ChatAnswer extends ChatMessage {
  readonly content: string | null
}
export interface ChatTool {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description?: string; readonly parameters?: unknown }
}

type Draft = { -readonly [K in keyof Omit<ChatMessage, 'tool_calls'>]: ChatMessage[K] } & { tool_calls?: ChatToolCall[] }

/** The messages that the model was given, instructions first. */
export function toChatMessages(content: GenerationContent): readonly ChatMessage[] {
  const messages: Draft[] = content.instructions ? [{ role: 'system', content: content.instructions }] : []
  addItems(messages, content.input)
  return messages
}

/**
 * The answer as one assistant message with a single text. Tools that the gateway or the provider ran are steps and not calls to the caller, so they
 * are left to child spans. Pictures made by them, or by the model itself, were shown to the caller, so their placeholders are part of the text. What
 * waits for the caller's approval has not run, and is all that such an answer says.
 */
export function toChatAnswer(content: GenerationContent): ChatAnswer {
  const messages: Draft[] = []
  const isCallerCall = callerCallsAmong(content.output)
  addItems(
    messages,
    content.output.flatMap((item) => (isKnownItem(item) || isCallerCall(item) || isApprovalRequest(item) ? [item] : pictureMessage(item))),
  )
  const assistant = messages.filter((message) => message.role === 'assistant')
  if (assistant.length === 1) return { ...assistant[0]!, content: answerText(assistant[0]!) }
  const texts = assistant.map(answerText).filter((text) => text !== null && text !== '')
  const reasoning = assistant.map((message) => message.reasoning ?? '').filter((text) => text !== '')
  const refusal = assistant.map((message) => message.refusal ?? '').join('')
  const calls = assistant.flatMap((message) => message.tool_calls ?? [])
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join('\n'),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n') }),
    ...(refusal === '' ? {} : { refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

const isApprovalRequest = ({ type }: { readonly type: string }): boolean => type === 'mcp_approval_request'

/** The message for a picture: its bytes are a placeholder by now; an address stays one. Nothing if no picture was made. */
function pictureMessage(item: OutputItem): readonly OutputItem[] {
  const { type, result } = item as { readonly type: string; readonly result?: unknown }
  if (!holdsPicture(type) || typeof result !== 'string' || result === '') return []
  return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: result }] }]
}

/** The parts of an answer's message are pieces of one text, joined without a separator, as in the public `output_text`. */
function answerText({ content }: ChatMessage): string | null {
  return content === null || typeof content === 'string' ? content : content.map(partText).join('')
}

export interface ChatChoice {
  readonly index: number
  readonly message: ChatMessage
  readonly finish_reason: string | null
}

/** The answer as the single choice of a chat completion. */
export function toChatChoices(content: GenerationContent, finishReason: string | undefined): readonly ChatChoice[] {
  return [{ index: 0, message: toChatAnswer(content), finish_reason: finishReason ?? null }]
}

/** Tools that the model was offered, also those in namespaces; tools other than functions are named by their type. */
export function toChatTools(tools: readonly Tool[] | undefined): readonly ChatTool[] {
  return (tools ?? []).flatMap((tool) => {
    const { name, tools: inner } = tool as Fields
    if (tool.type !== 'namespace' || !Array.isArray(inner)) return [toChatTool(tool)]
    return inner.map((each: Tool) => toChatTool(each, typeof name === 'string' ? name : undefined))
  })
}

function toChatTool(tool: Tool, namespace?: string): ChatTool {
  const name = nameWithin(namespace, nameIn(tool as Fields, ['name']) ?? tool.type)
  if (!isFunctionTool(tool)) return { type: 'function', function: { name } }
  const { description, parameters } = tool
  return { type: 'function', function: { name, ...(description ? { description } : {}), ...(parameters ? { parameters } : {}) } }
}

/** As models that know no namespaces are told: two servers may have tools of the same name. */
const nameWithin = (namespace: string | null | undefined, name: string): string => (namespace ? `${namespace}__${name}` : name)

/** All text of a message, refusals included, for platforms that accept nothing else. */
export function messageText({ content, refusal }: ChatMessage): string {
  const text = typeof content === 'string' ? content : (content ?? []).map(partText).join('\n')
  return [text, refusal ?? ''].filter((words) => words !== '').join('\n')
}

function partText(part: ChatPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'image_url') return part.image_url.url
  return part.file.filename ?? part.file.file_url ?? part.file.file_id ?? '[file]'
}

// ---- items to messages ----

/** The assistant message that a call or reasoning belongs to: the last one, unless another role has spoken since. */
function openAssistant(messages: Draft[]): Draft {
  const last = messages.at(-1)
  if (last?.role === 'assistant') return last
  const message: Draft = { role: 'assistant', content: null }
  messages.push(message)
  return message
}

function addItems(messages: Draft[], items: readonly (InputItem | OutputItem)[]): void {
  for (const item of items) {
    if (isKnownItem(item)) addKnown(messages, item)
    else addOther(messages, item)
  }
}

function addKnown(messages: Draft[], item: KnownItem): void {
  switch (item.type) {
    case 'message':
      return addMessage(messages, item.role, item.content)
    case 'reasoning': {
      const text = [...(item.summary ?? []), ...(item.content ?? [])].map((part) => part.text).join('\n')
      if (text === '') return
      const open = openAssistant(messages)
      open.reasoning = open.reasoning === undefined ? text : `${open.reasoning}\n${text}`
      return
    }
    case 'function_call':
      return addCall(messages, item.call_id, nameWithin(item.namespace, item.name), item.arguments)
    case 'custom_tool_call':
      return addCall(messages, item.call_id, nameWithin(item.namespace, item.name), item.input)
    case 'function_call_output':
    case 'custom_tool_call_output':
      messages.push({ role: 'tool', content: toolText(item.output), tool_call_id: item.call_id })
  }
}

function addMessage(messages: Draft[], role: ChatMessage['role'], content: string | readonly InputPart[]): void {
  const refusal = typeof content === 'string' ? '' : content.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('')
  const shaped = toContent(content)
  if (role !== 'assistant') {
    messages.push({ role, content: shaped ?? '' })
    return
  }
  const last = messages.at(-1)
  // Reasoning came first and opened the turn, and this message continues it.
  const open = last?.role === 'assistant' && last.content === null && last.tool_calls === undefined ? last : undefined
  const message: Draft = open ?? { role, content: null }
  message.content = shaped
  if (refusal !== '') message.refusal = refusal
  if (open === undefined) messages.push(message)
}

function addCall(messages: Draft[], id: string, name: string, args: string): void {
  // Appended: copies of a list that grows with each call would take minutes for the fifty thousand that a request may hold.
  const calls = (openAssistant(messages).tool_calls ??= [])
  calls.push({ id, type: 'function', function: { name, arguments: args } })
}

/** Built-in tools of earlier turns: a call, with its result if the item has one; a result on its own; an approval asked for and given. */
function addOther(messages: Draft[], item: InputItem): void {
  const fields = item as { readonly [key: string]: unknown }
  const id = nameIn(fields, ['call_id', 'id']) ?? item.type
  if (item.type.endsWith('_call_output')) return addResult(messages, id, fields['output'] ?? fields['status'] ?? '')
  if (item.type === 'tool_search_output' && fields['call_id'] === id) return addResult(messages, id, fields['tools'] ?? [])
  if (item.type.startsWith('mcp_approval_')) return addApproval(messages, id, item)
  if (!item.type.endsWith('_call') && !item.type.includes(':')) return
  addCall(messages, id, nameIn(fields, ['name']) ?? item.type, jsonText(argumentsOf(fields)))
  const output = firstOf(fields, ['output', 'outputs', 'result', 'results'])
  if (output !== undefined) addResult(messages, id, output)
}

type Fields = { readonly [key: string]: unknown }

/** Items of unknown types hold whatever callers put there, but platforms refuse ids and names that are empty or no text. */
const nameIn = (fields: Fields, names: readonly string[]): string | undefined =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === 'string' && value !== '')

const firstOf = (fields: Fields, names: readonly string[]): unknown => names.map((name) => fields[name]).find((value) => value != null)

/** The arguments of a tool, which its item has in one field or in several. */
function argumentsOf(fields: Fields): unknown {
  const several = ['code', 'queries', 'prompt'].flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]] as const]))
  return firstOf(fields, ['arguments', 'action', 'operation', 'input']) ?? Object.fromEntries(several)
}

function addApproval(messages: Draft[], id: string, item: InputItem): void {
  const { server_label, name, arguments: args, approval_request_id: requestId, approve, reason } = item as { readonly [key: string]: unknown }
  if (isApprovalRequest(item)) return addCall(messages, id, item.type, JSON.stringify({ server_label, name, arguments: args }))
  addResult(messages, typeof requestId === 'string' ? requestId : id, { approve, ...(reason == null ? {} : { reason }) })
}

function addResult(messages: Draft[], id: string, output: unknown): void {
  messages.push({ role: 'tool', content: jsonText(output), tool_call_id: id })
}

const jsonText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function toolText(output: ToolOutput): string {
  return typeof output === 'string' ? output : output.map((part) => partText(toPart(part))).join('\n')
}

function toContent(content: string | readonly InputPart[]): ChatMessage['content'] {
  if (typeof content === 'string') return content
  const parts = content.filter((part) => part.type !== 'refusal').map(toPart)
  if (parts.length === 0) return null
  const only = parts.length === 1 ? parts[0] : undefined
  return only?.type === 'text' ? only.text : parts
}

/** A link stays a link; what was bytes is a placeholder by now and shows as text. */
function toPart(part: InputPart): ChatPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'text', text: part.refusal }
    case 'input_image': {
      const url = part.image_url ?? ''
      return /^https?:\/\//i.test(url) ? { type: 'image_url', image_url: { url } } : { type: 'text', text: url || `[image ${part.file_id ?? ''}]` }
    }
    case 'input_file':
      if (part.file_data && !part.file_url) return { type: 'text', text: part.filename ? `${part.filename} ${part.file_data}` : part.file_data }
      return {
        type: 'file',
        file: {
          ...(part.filename ? { filename: part.filename } : {}),
          ...(part.file_url ? { file_url: part.file_url } : {}),
          ...(part.file_id ? { file_id: part.file_id } : {}),
        },
      }
    case 'input_audio':
      return { type: 'text', text: part.input_audio.data }
    case 'input_video':
      return { type: 'text', text: part.video_url }
    default:
      return { type: 'text', text: `[${(part as { readonly type: string }).type}]` }
  }
}

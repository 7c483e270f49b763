import type { InputItem, InputPart, JsonObject, ToolOutput } from '../../core/item.ts'
import { markOf, type MarkedByCaller } from '../shared/cache-mark.ts'
import { pictureAt } from '../shared/shown-picture.ts'
import { thoughtsOf, type ReasoningDetail } from './reasoning-details.ts'
import { weave } from './weave.ts'

/** Messages that have passed the schema. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  readonly content?: string | readonly ChatPart[] | null
  readonly name?: string | null
  readonly refusal?: string | null
  readonly reasoning?: string | null
  readonly reasoning_content?: string | null
  readonly reasoning_details?: readonly ReasoningDetail[] | string | null
  readonly tool_calls?: readonly ChatCall[] | null
  readonly audio?: { readonly transcript?: string | null } | null
  readonly images?: readonly { readonly image_url: { readonly url: string } }[] | null
  readonly tool_call_id?: string
}

interface ChatCall {
  readonly id: string
  readonly type: 'function' | 'custom'
  readonly function?: { readonly name: string; readonly arguments?: string | null }
  readonly custom?: { readonly name: string; readonly input?: string | null }
}

type ChatPart = { readonly type: string } & MarkedByCaller & JsonObject

/** The conversation as items, in the order of its messages. `origins` receives the message index of each item. */
export function toItems(messages: readonly ChatMessage[], origins: number[] = []): readonly InputItem[] {
  const items: InputItem[] = []
  /** Ids of calls with free-text input: their results are items of another type. */
  const custom = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      for (const item of answerOf(message, custom)) items.push(item)
    } else if (message.role === 'tool') items.push(resultOf(message, custom))
    else items.push({ type: 'message', role: message.role, content: named(message.name, contentOf(message.content)) })
    while (origins.length < items.length) origins.push(index)
  }
  return items
}

function resultOf({ tool_call_id: callId = '', content }: ChatMessage, custom: ReadonlySet<string>): InputItem {
  const output = contentOf(content) as ToolOutput
  return custom.has(callId) ? { type: 'custom_tool_call_output', call_id: callId, output } : { type: 'function_call_output', call_id: callId, output }
}

/** The content of one assistant message, in the order a model produces it: reasoning, text, calls. */
function answerOf(message: ChatMessage, custom: Set<string>): readonly InputItem[] {
  const thoughts = thoughtsOf(message.reasoning_details, message.reasoning || message.reasoning_content || thoughtIn(message.content))
  const content: InputItem[] = []
  const parts = named(message.name, wordsOf(message))
  if (parts.length > 0) content.push({ type: 'message', role: 'assistant', content: parts })
  for (const { image_url: image } of message.images ?? []) content.push(pictureOf(image.url))
  const calls = (message.tool_calls ?? []).map((call): InputItem => {
    if (call.type === 'function')
      return { type: 'function_call', call_id: call.id, name: call.function!.name, arguments: call.function!.arguments || '{}' }
    custom.add(call.id)
    return { type: 'custom_tool_call', call_id: call.id, name: call.custom!.name, input: call.custom!.input ?? '' }
  })
  return weave(thoughts, content, calls)
}

/** The reasoning that is a part of the content. */
function thoughtIn(content: ChatMessage['content']): string {
  if (content == null || typeof content === 'string') return ''
  const pieces = content.filter(({ type }) => type === 'thinking').flatMap((part) => part['thinking'] as readonly { readonly text?: string }[])
  return pieces.map(({ text = '' }) => text).join('')
}

/** Without empty parts: a message that only makes calls has no text. */
function wordsOf({ content, refusal, audio }: ChatMessage): readonly InputPart[] {
  // An audio answer has its transcript beside it.
  const text = content || (audio?.transcript ?? '')
  const parts = typeof text === 'string' ? [{ type: 'text', text }] : text
  const words = parts.flatMap((part): readonly InputPart[] => {
    if (part.type === 'thinking') return []
    if (part.type === 'text') return part['text'] === '' ? [] : [{ type: 'output_text', text: part['text'] as string }]
    return part.type === 'refusal' ? [{ type: 'refusal', refusal: part['refusal'] as string }] : [partOf(part)]
  })
  return refusal ? [...words, { type: 'refusal', refusal }] : words
}

/** An image of an earlier answer, as the tool that made it returned it. */
function pictureOf(url: string): InputItem {
  const inline = /^data:image\/([\w.+-]+);base64,(.*)$/s.exec(url)
  if (inline !== null) return { type: 'image_generation_call', status: 'completed', result: inline[2]!, output_format: inline[1]! }
  return pictureAt(url) ?? { type: 'message', role: 'assistant', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }
}

function contentOf(content: ChatMessage['content']): string | readonly InputPart[] {
  return content == null ? '' : typeof content === 'string' ? content : content.map(partOf)
}

/** Puts the speaker's name before the text: items have no field for it. */
function named<C extends string | readonly InputPart[]>(name: string | null | undefined, content: C): C {
  if (!name) return content
  const prefix = `${name}: `
  if (typeof content === 'string') return `${prefix}${content}` as C
  const at = content.findIndex((part) => 'text' in part)
  return content.map((part, index) => (index === at && 'text' in part ? { ...part, text: prefix + part.text } : part)) as readonly InputPart[] as C
}

function partOf(part: ChatPart): InputPart {
  const mark = markOf(part)
  switch (part.type) {
    case 'image_url':
      return { type: 'input_image', ...imageOf(part['image_url'] as ImageUrl), ...mark }
    case 'file':
      return { type: 'input_file', ...fileOf(part['file'] as ChatFile), ...mark }
    case 'document_url':
      return {
        type: 'input_file',
        ...fileOf({ file_data: part['document_url'] as string, filename: part['document_name'] as string | null }),
        ...mark,
      }
    case 'input_audio':
      return { type: 'input_audio', input_audio: part['input_audio'] as { readonly data: string; readonly format: string } }
    case 'video_url':
    case 'input_video':
      return { type: 'input_video', video_url: (part['video_url'] as { readonly url: string }).url }
    case 'refusal':
      return { type: 'refusal', refusal: part['refusal'] as string }
    default:
      return { type: 'input_text', text: part['text'] as string, ...mark }
  }
}

type ImageUrl = string | { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' | 'original' | null }

const imageOf = (image: ImageUrl) =>
  typeof image === 'string' ? { image_url: image, detail: 'auto' as const } : { image_url: image.url, detail: image.detail ?? ('auto' as const) }

interface ChatFile {
  readonly file_data?: string | null
  readonly file_id?: string | null
  readonly filename?: string | null
}

/** The field for a file's bytes also accepts a URL. */
function fileOf({ file_data: data, file_id: id, filename }: ChatFile) {
  return {
    ...(data ? (/^https?:/i.test(data) ? { file_url: data } : { file_data: data }) : {}),
    ...(id ? { file_id: id } : {}),
    ...(filename ? { filename } : {}),
  }
}

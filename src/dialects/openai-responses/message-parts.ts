import type { FetchedMedia } from '../../core/dialect.ts'
import type { InputFile, InputPart, JsonObject, MessageItem, ToolOutput } from '../../core/item.ts'
import { bareAudio, fileNameOf, fileUrl, isElsewhere, noteOfEmptyFile } from '../shared/file-data.ts'
import type { ResponsesOptions } from './options.ts'

export interface PartContext {
  readonly options: ResponsesOptions
  /** Whether the end of what is cached may be marked. */
  readonly takesMarks: boolean
  readonly media?: ReadonlyMap<string, FetchedMedia>
  readonly dropped: Set<string>
}

const NAMES: { readonly [type: string]: string } = { input_image: 'image', input_file: 'file', input_audio: 'audio', input_video: 'video' }

const isRemote = (url: string | null | undefined): url is string => url != null && /^https?:\/\//i.test(url)

/** URLs of a part whose bytes have to be fetched when the endpoint cannot do it. */
export function remoteUrls(part: InputPart): readonly string[] {
  if (part.type === 'input_image') return isRemote(part.image_url) ? [part.image_url] : []
  if (part.type === 'input_file') {
    const url = fileUrl(part)
    return isRemote(url) ? [url] : []
  }
  return []
}

/** A copy without members that are null: servers disagree on null, and agree on absent. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined))
}

/** Parts that may be the end of what is cached. */
const MARKABLE: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file'])

/** A part of a user's, system's or developer's message, or of a tool's result. Its mark says nothing here of how long what is cached lives. */
function encodeInputPart(part: InputPart, context: PartContext): JsonObject {
  if (!('prompt_cache_breakpoint' in part)) return encodeUnmarked(part, context)
  const { prompt_cache_breakpoint: mark, ...unmarked } = part
  const encoded = encodeUnmarked(unmarked, context)
  if (mark == null || !context.takesMarks || !MARKABLE.has(encoded['type'])) return encoded
  return { ...encoded, prompt_cache_breakpoint: { mode: mark.mode } }
}

function encodeUnmarked(part: InputPart, context: PartContext): JsonObject {
  const { options, media, dropped } = context
  switch (part.type) {
    case 'output_text':
      return { type: 'input_text', text: part.text }
    case 'refusal':
      return { type: 'input_text', text: part.refusal }
    case 'input_text':
      return { type: 'input_text', text: part.text }
    default:
  }
  const empty = part.type === 'input_file' ? noteOfEmptyFile(part) : undefined
  if (empty !== undefined) return { ...empty }
  if (!options.input_parts.includes(part.type)) {
    const name = NAMES[part.type] ?? part.type
    dropped.add(`input: ${part.type}`)
    return { type: 'input_text', text: `[${name} left out: this endpoint does not take it]` }
  }
  if (part.type === 'input_image' && isRemote(part.image_url)) {
    const fetched = media?.get(part.image_url)
    return withoutNulls({ ...part, ...(fetched === undefined ? {} : { image_url: dataUrl(fetched) }) })
  }
  if (part.type === 'input_file') return encodeFile(part, context)
  if (part.type === 'input_audio') return { ...part, input_audio: bareAudio(part.input_audio) }
  return withoutNulls({ ...part })
}

const dataUrl = ({ mimeType, data }: FetchedMedia): string => `data:${mimeType};base64,${data}`

/** A name belongs to bytes and nothing else: bytes without one are refused, and so is one beside an address or an id. */
function encodeFile(part: InputFile, { media, dropped }: PartContext): JsonObject {
  const { file_data: _data, file_url: _address, cited: _cited, file_id, filename, ...rest } = part
  const url = fileUrl(part)
  if (isRemote(url)) {
    const fetched = media?.get(url)
    if (fetched !== undefined) return withoutNulls({ ...rest, filename: filename ?? fileNameOf(url), file_data: dataUrl(fetched) })
  } else if (url !== undefined && !isElsewhere(part)) return withoutNulls({ ...rest, filename: filename ?? fileNameOf(url), file_data: url })
  if (filename != null) dropped.add('input: filename')
  return withoutNulls({ ...rest, file_url: url, file_id: url === undefined ? file_id : undefined })
}

/** A part of an assistant's message. Undefined for media, which no assistant of this format can have said. */
function encodeAssistantPart(part: InputPart, { dropped }: PartContext): JsonObject | undefined {
  switch (part.type) {
    case 'input_text':
      return { type: 'output_text', text: part.text, annotations: [] }
    case 'output_text':
      return { type: 'output_text', text: part.text, annotations: part.annotations ?? [] }
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal }
    default:
      dropped.add(`input: ${part.type} of the assistant`)
      return undefined
  }
}

/**
 * A message without the ids and status the gateway gave it: the upstream never saw them. Undefined when nothing is left of it.
 */
export function encodeMessage(item: MessageItem, context: PartContext): JsonObject | undefined {
  const { options } = context
  const role = item.role === 'developer' && !options.developer_role ? 'system' : item.role
  const phase = options.phase && item.phase != null ? { phase: item.phase } : {}
  if (typeof item.content === 'string') return { type: 'message', role, content: item.content, ...phase }
  if (role === 'assistant' && !options.assistant_parts) {
    const text = item.content.map((part) => (part.type === 'refusal' ? part.refusal : 'text' in part ? part.text : '')).join('')
    return text === '' ? undefined : { type: 'message', role, content: text, ...phase }
  }
  const content =
    role === 'assistant'
      ? item.content.map((part) => encodeAssistantPart(part, context)).filter((part) => part !== undefined)
      : item.content.map((part) => encodeInputPart(part, context))
  return content.length === 0 ? undefined : { type: 'message', role, content, ...phase }
}

export interface EncodedOutput {
  readonly output: string | readonly JsonObject[]
  /** Parts the result itself cannot hold: they follow in a message of the user. */
  readonly overflow: readonly JsonObject[]
}

export function encodeToolOutput(output: ToolOutput, context: PartContext): EncodedOutput {
  if (typeof output === 'string') return { output, overflow: [] }
  // A tool that gave nothing: lists without members are refused.
  if (output.length === 0) return { output: '', overflow: [] }
  const parts = output.map((part) => encodeInputPart(part, context))
  if (context.options.tool_output_parts) return { output: parts, overflow: [] }
  const texts = parts.flatMap((part) => (part['type'] === 'input_text' ? [String(part['text'])] : []))
  const overflow = parts.filter((part) => part['type'] !== 'input_text')
  if (overflow.length > 0) texts.push('[the media of this result follow in the next message]')
  return { output: texts.join('\n\n'), overflow }
}

import type { FetchedMedia } from '../../core/dialect.ts'
import type { InputFile, InputPart, JsonObject, MessageItem, ToolOutput } from '../../core/item.ts'
import { bareAudio, fileNameOf, fileUrl, isElsewhere, noteOfEmptyFile } from '../shared/file-data.ts'
import type { ResponsesOptions } from './options.ts'

export interface PartContext {
  readonly options: ResponsesOptions
  /** Whether cache breakpoints may be sent. */
  readonly takesMarks: boolean
  readonly media?: ReadonlyMap<string, FetchedMedia>
  readonly dropped: Set<string>
}

const NAMES: { readonly [type: string]: string } = { input_image: 'image', input_file: 'file', input_audio: 'audio', input_video: 'video' }

const isRemote = (url: string | null | undefined): url is string => url != null && /^https?:\/\//i.test(url)

/** URLs in a part that must be fetched if the endpoint cannot do so. */
export function remoteUrls(part: InputPart): readonly string[] {
  if (part.type === 'input_image') return isRemote(part.image_url) ? [part.image_url] : []
  if (part.type === 'input_file') {
    const url = fileUrl(part)
    return isRemote(url) ? [url] : []
  }
  return []
}

/** A copy without null members: servers treat null differently, but agree on absent members. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined))
}

/** Parts that may carry a cache breakpoint. */
const MARKABLE: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file'])

/** Lifetimes of breakpoints in this format; others are those of other formats, and refused. */
const LIFETIMES: ReadonlySet<unknown> = new Set(['30m', '12h'])

/** A part of a user, system or developer message, or of a tool result. */
function encodeInputPart(part: InputPart, context: PartContext): JsonObject {
  if (!('prompt_cache_breakpoint' in part)) return encodeUnmarked(part, context)
  const { prompt_cache_breakpoint: mark, ...unmarked } = part
  const encoded = encodeUnmarked(unmarked, context)
  if (mark == null || !context.takesMarks || !MARKABLE.has(encoded['type'])) return encoded
  return { ...encoded, prompt_cache_breakpoint: { mode: mark.mode, ...(LIFETIMES.has(mark.ttl) ? { ttl: mark.ttl } : {}) } }
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

/** Only inline data has a name: data without one is refused, and so is a name next to a URL or an id. */
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

/** A part of an assistant message. Undefined for media, which an assistant of this format cannot have written. */
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

/** A message without the ids and status from the gateway, which the upstream does not know. Undefined if nothing is left of it. */
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
  /** Parts that the result itself cannot contain; they follow in a user message. */
  readonly overflow: readonly JsonObject[]
}

export function encodeToolOutput(output: ToolOutput, context: PartContext): EncodedOutput {
  if (typeof output === 'string') return { output, overflow: [] }
  // A tool without output: empty lists are refused.
  if (output.length === 0) return { output: '', overflow: [] }
  const parts = output.map((part) => encodeInputPart(part, context))
  if (context.options.tool_output_parts) return { output: parts, overflow: [] }
  const texts = parts.flatMap((part) => (part['type'] === 'input_text' ? [String(part['text'])] : []))
  const overflow = parts.filter((part) => part['type'] !== 'input_text')
  if (overflow.length > 0) texts.push('[the media of this result follow in the next message]')
  return { output: texts.join('\n\n'), overflow }
}

import { cacheMark } from '../shared/cache-mark.ts'
import { GatewayError } from '../../core/error.ts'
import type { Target } from '../../core/dialect.ts'
import type { InputFile, InputImage, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { visitParts, type ContentPart } from '../shared/content-parts.ts'
import { bareAudio, fileNameOf, fileUrl, isElsewhere } from '../shared/file-data.ts'
import type { OpenAiChatOptions } from './options.ts'
import { dataHead } from '../../lib/data-head.ts'

type ChatTarget = Target<OpenAiChatOptions>

export const isImage = (part: ContentPart): part is InputImage => part.type === 'input_image'

const isRemote = (url: string): boolean => /^https?:/i.test(url)

/** Another endpoint may accept it, so the error fails over. */
function unsupported(what: string, target: ChatTarget): never {
  throw new GatewayError('invalid_prompt', `${target.providerName} takes no ${what}`, {
    failover: 'next',
    path: 'input',
    providerName: target.providerName,
  })
}

/** One content part of a user message: text, media, files. Throws `invalid_prompt` for media that this endpoint does not accept. */
export function encodePart(part: ContentPart, target: ChatTarget): JsonObject[] {
  const { options } = target
  switch (part.type) {
    case 'input_text':
      return [{ type: 'text', text: part.text, ...(options.cache_breakpoints ? cacheMark(part, true) : {}) }]
    case 'input_image':
      return [encodeImage(part, target)]
    case 'input_audio':
      return options.audio === 'none' ? unsupported('audio', target) : [{ type: 'input_audio', input_audio: bareAudio(part.input_audio) }]
    case 'input_video':
      return options.video === 'none'
        ? unsupported('video', target)
        : [{ type: 'video_url', video_url: { url: options.inline_videos ? dataOf(part.video_url, target) : part.video_url } }]
    case 'input_file':
      return [encodeFile(part, target)]
  }
}

/** Whether this endpoint accepts the part at all. An unsupported part of a tool result becomes a note, whereas the user's own is refused. */
export function canEncode(part: ContentPart, options: OpenAiChatOptions): boolean {
  switch (part.type) {
    case 'input_text':
      return true
    case 'input_image':
      return options.image_url !== 'none' && Boolean(part.image_url)
    case 'input_audio':
      return options.audio !== 'none'
    case 'input_video':
      return options.video !== 'none'
    case 'input_file': {
      const url = fileUrl(part)
      if (options.file === 'none') return url !== undefined && textOfDataUrl(url) !== undefined
      return url !== undefined || (options.file === 'file' && part.file_id != null)
    }
  }
}

function encodeImage(part: InputImage, target: ChatTarget): JsonObject {
  const { options } = target
  if (options.image_url === 'none') return unsupported('images', target)
  if (!part.image_url) return unsupported('images by file id', target)
  const url = options.inline_images ? dataOf(part.image_url, target) : part.image_url
  if (options.image_url === 'string') return { type: 'image_url', image_url: url }
  const detail = options.image_detail && part.detail != null && part.detail !== 'original' ? { detail: part.detail } : {}
  return { type: 'image_url', image_url: { url, ...detail } }
}

function encodeFile(part: InputFile, target: ChatTarget): JsonObject {
  const { options } = target
  const url = fileUrl(part)
  if (options.file === 'document_url') {
    if (url === undefined) return unsupported('files by id', target)
    return { type: 'document_url', document_url: url, ...(part.filename == null ? {} : { document_name: part.filename }) }
  }
  if (isElsewhere(part) && !options.file_urls) return unsupported('files from this kind of address', target)
  const data = url === undefined || (isRemote(url) && options.file_urls) ? url : isRemote(url) ? inlined(url, target) : url
  if (options.file === 'file') {
    if (part.file_id != null && data === undefined) return { type: 'file', file: { file_id: part.file_id } }
    if (data === undefined) return unsupported('files without data', target)
    return { type: 'file', file: { filename: part.filename ?? fileNameOf(url), file_data: data } }
  }
  const text = data === undefined ? undefined : textOfDataUrl(data)
  if (text === undefined) return unsupported('files', target)
  return { type: 'text', text: `<file name="${(part.filename ?? fileNameOf(url)).replaceAll('"', "'")}">\n${text}\n</file>` }
}

/** The text in a data URL; undefined for binary content. */
function textOfDataUrl(url: string): string | undefined {
  const match = /^data:([^;,]*)((?:;[^;,]*)*),/i.exec(dataHead(url))
  if (match === null || !/^(?:text\/|application\/(?:json|xml|x-yaml|yaml|javascript|toml|sql))/i.test(match[1]!)) return undefined
  const body = url.slice(match[0].length)
  if (/;base64/i.test(match[2]!)) return Buffer.from(body, 'base64').toString()
  try {
    return decodeURIComponent(body)
  } catch {
    return body
  }
}

const dataOf = (url: string, target: ChatTarget): string => (isRemote(url) ? inlined(url, target) : url)

function inlined(url: string, target: ChatTarget): string {
  const media = target.media?.get(url)
  if (media === undefined) throw new GatewayError('image_download_failed', `Could not fetch ${url.slice(0, 200)}`, { path: 'input' })
  return `data:${media.mimeType};base64,${media.data}`
}

/** Remote URLs that must be fetched before encoding, because this endpoint requires the bytes. */
export function mediaToInline(request: ModelRequest, target: ChatTarget): string[] {
  const { options } = target
  const urls = new Set<string>()
  visitParts(request.input, (part) => {
    if (part.type === 'input_image' && options.inline_images && options.image_url !== 'none' && part.image_url && isRemote(part.image_url))
      urls.add(part.image_url)
    if (part.type === 'input_video' && options.inline_videos && options.video !== 'none' && isRemote(part.video_url)) urls.add(part.video_url)
    if (part.type === 'input_file' && options.file !== 'document_url' && !(options.file === 'file' && options.file_urls)) {
      const url = fileUrl(part)
      if (url !== undefined && isRemote(url)) urls.add(url)
    }
  })
  return [...urls]
}

import { GatewayError } from '../../core/error.ts'
import type { Target } from '../../core/dialect.ts'
import type { InputFile, JsonObject, OtherItem } from '../../core/item.ts'
import { addressOfDrawn } from '../../core/picture-items.ts'
import type { ModelRequest } from '../../core/request.ts'
import { sniffBase64 } from '../../lib/media-type.ts'
import { visitParts, type ContentPart } from '../shared/content-parts.ts'
import { readDataUrl } from '../shared/data-url.ts'
import { isAddress } from '../shared/image-item.ts'
import { asString } from '../shared/json.ts'
import { traitsOf } from './model-traits.ts'
import type { GeminiOptions } from './options.ts'
import { compiled } from '../shared/pattern.ts'

type GeminiTarget = Target<GeminiOptions>

/** Types by the ending of a name, if nothing else states the type. */
const TYPE_OF_ENDING: { readonly [ending: string]: string } = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  mpeg: 'video/mpeg',
  mpg: 'video/mpg',
  webm: 'video/webm',
  wmv: 'video/wmv',
  '3gp': 'video/3gpp',
  flv: 'video/x-flv',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  aiff: 'audio/aiff',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/m4a',
}
const TEXT_ENDING = /^(?:txt|log|jsonl?|csv|tsv|html?|xml|md|rtf|ya?ml|toml|ini|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|css)$/

function typeOfName(name: string): string | undefined {
  const ending = /\.([a-z0-9]+)$/i.exec(name.split(/[?#]/)[0] ?? '')?.[1]?.toLowerCase()
  if (ending === undefined) return undefined
  return TYPE_OF_ENDING[ending] ?? (TEXT_ENDING.test(ending) ? 'text/plain' : undefined)
}

const TEXT_TYPE =
  /^(?:text\/|application\/(?:json|jsonl|xml|javascript|typescript|toml|sql|rtf|(?:x-)?(?:yaml|ndjson|sh|python|javascript))$|application\/[\w.-]+\+(?:json|xml)$)/

/**
 * The endpoint's name of the type. The public API accepts several kinds of text and the cloud platform one, but both treat all of them as plain text.
 */
function takenType(mimeType: string): string {
  if (TEXT_TYPE.test(mimeType)) return 'text/plain'
  return mimeType === 'image/jpg' ? 'image/jpeg' : mimeType
}

const AUDIO_FORMATS: { readonly [format: string]: string } = {
  mpeg: 'audio/mp3',
  mp3: 'audio/mp3',
  wave: 'audio/wav',
  pcm16: 'audio/pcm',
  'x-wav': 'audio/wav',
}

const isRemote = (url: string): boolean => /^https?:/i.test(url)

const readsItself = (url: string, options: GeminiOptions): boolean => options.file_uris.some((source) => compiled(source, 'i').test(url))

/** Another endpoint may accept it, so the error fails over. */
function unsupported(what: string, target: GeminiTarget): never {
  throw new GatewayError('invalid_prompt', `${target.providerName} takes no ${what}`, {
    failover: 'next',
    path: 'input',
    providerName: target.providerName,
  })
}

/** One part of a user turn or of a tool result. Throws `invalid_prompt` for media that this format does not support. */
export function encodePart(part: ContentPart, target: GeminiTarget): JsonObject {
  switch (part.type) {
    case 'input_text':
      return { text: part.text }
    case 'input_image':
      if (part.image_url) return blob(part.image_url, 'image/jpeg', target)
      return part.file_id ? vendorFile(part.file_id, target) : unsupported('images without an address', target)
    case 'input_audio': {
      const format = part.input_audio.format.toLowerCase()
      const data = part.input_audio.data
      if (/^data:/i.test(data)) return blob(data, 'audio/wav', target)
      return { inlineData: { mimeType: AUDIO_FORMATS[format] ?? (format.includes('/') ? format : `audio/${format}`), data } }
    }
    case 'input_video':
      return blob(part.video_url, 'video/mp4', target)
    case 'input_file':
      return encodeFile(part, target)
  }
}

/** A picture of an earlier answer. Servers of other formats may give its address. */
export function encodePicture(item: OtherItem, target: GeminiTarget): JsonObject {
  const data = asString(item['result'])!
  return isAddress(data) ? blob(data, 'image/png', target) : { inlineData: { mimeType: imageType(data), data } }
}

function encodeFile(part: InputFile, target: GeminiTarget): JsonObject {
  const named = typeOfName(part.filename ?? '')
  if (part.file_data) {
    if (/^(?:data|https?|gs):/i.test(part.file_data)) return blob(part.file_data, named ?? 'application/pdf', target, named)
    return { inlineData: { mimeType: named ?? takenType(sniffBase64(part.file_data) ?? 'application/pdf'), data: part.file_data } }
  }
  if (part.file_url) return blob(part.file_url, named ?? 'application/pdf', target, named)
  return part.file_id ? vendorFile(part.file_id, target) : unsupported('files without data', target)
}

/** Ids of other vendors' files are unknown here. */
function vendorFile(id: string, target: GeminiTarget): JsonObject {
  return readsItself(id, target.options) ? fileData(id) : unsupported('files by the id of another vendor', target)
}

function fileData(uri: string, fallback?: string): JsonObject {
  const mimeType = typeOfName(uri) ?? fallback
  return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: uri } }
}

/** Inline data if available, or the URL if the endpoint fetches it itself, or else the fetched data. */
function blob(url: string, assumed: string, target: GeminiTarget, named?: string): JsonObject {
  if (/^data:/i.test(url)) return inlineDataUrl(url, named, assumed, target)
  if (readsItself(url, target.options)) return fileData(url, named ?? assumed)
  if (!isRemote(url)) return unsupported('media from this kind of address', target)
  const media = target.media?.get(url)
  if (media === undefined) throw new GatewayError('image_download_failed', `Could not fetch ${url.slice(0, 200)}`, { path: 'input' })
  return { inlineData: { mimeType: takenType(media.mimeType), data: media.data } }
}

/** The declared type takes precedence, then the name, then the bytes. */
function inlineDataUrl(url: string, named: string | undefined, assumed: string, target: GeminiTarget): JsonObject {
  const read = readDataUrl(url)
  if (read === undefined) return unsupported('data URLs without data', target)
  const declared = read.mimeType || (named ?? sniffBase64(read.data) ?? assumed)
  return { inlineData: { mimeType: takenType(declared), data: read.data } }
}

/** Whether this endpoint accepts the part at all. An unsupported part of a tool result becomes a note, whereas the user's own is refused. */
export function canEncode(part: ContentPart, target: GeminiTarget): boolean {
  try {
    encodePart(part, target)
    return true
  } catch (error) {
    if (error instanceof GatewayError && error.errorType === 'invalid_prompt') return false
    throw error
  }
}

/** The URLs in messages, tool results and pictures of earlier answers that this endpoint cannot fetch itself. */
export function mediaUrls(request: ModelRequest, target: GeminiTarget): string[] {
  const urls = new Set<string>()
  const add = (url: string | null | undefined): void => {
    if (url && isRemote(url) && !readsItself(url, target.options)) urls.add(url)
  }
  visitParts(request.input, (part) => add(addressOf(part)))
  // Other models get no pictures of earlier answers.
  if (traitsOf(target.options, target.upstreamModel).image_output) {
    for (const item of request.input) add(addressOfDrawn(item))
  }
  return [...urls]
}

function addressOf(part: ContentPart): string | null | undefined {
  switch (part.type) {
    case 'input_image':
      return part.image_url
    case 'input_video':
      return part.video_url
    case 'input_file':
      return part.file_data || part.file_url
    default:
      return undefined
  }
}

/** The type of a base64 image, from its first bytes. */
function imageType(base64: string): string {
  const start = base64.slice(0, 8)
  if (start.startsWith('/9j/')) return 'image/jpeg'
  if (start.startsWith('R0lG')) return 'image/gif'
  return start.startsWith('UklG') ? 'image/webp' : 'image/png'
}

import { CITED, citedText } from './cited-text.ts'
import { cacheMark } from '../shared/cache-mark.ts'
import { GatewayError } from '../../core/error.ts'
import type { CacheMarked, InputFile, InputImage } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decodeText } from '../../lib/decode-text.ts'
import { visitParts, type ContentPart } from '../shared/content-parts.ts'
import { isElsewhere } from '../shared/file-data.ts'
import { imageType, isRemote, isTextName, isTextType, looksLikePdf, readDataUrl } from './media.ts'
import type { InlineData } from './media.ts'
import type { MessagesTarget } from './options.ts'

/** An encoded content block, to which the cache may still add a breakpoint. */
export type Block = { readonly type: string; [field: string]: unknown }

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** Another endpoint may accept it, so the error fails over. */
function unsupported(what: string, target: MessagesTarget): GatewayError {
  return new GatewayError('invalid_prompt', `${target.providerName} takes no ${what}`, {
    failover: 'next',
    path: 'input',
    providerName: target.providerName,
  })
}

/** The cache breakpoint of the encoded part. */
export const markOf = (part: CacheMarked, { options }: MessagesTarget): object => cacheMark(part, options.cache_control === 'all')

/**
 * One part of the user's content; undefined for text that is only whitespace, which is refused. Throws `invalid_prompt` for media that this endpoint
 * does not accept.
 */
export function encodePart(part: ContentPart, target: MessagesTarget): Block | undefined {
  switch (part.type) {
    case 'input_text':
      if (part.text.trim() === '') return undefined
      return { ...(citedText(part, target) ?? { type: 'text', text: part.text }), ...markOf(part, target) }
    case 'input_image':
      return { type: 'image', source: imageSource(part, target), ...markOf(part, target) }
    case 'input_file':
      return { ...documentBlock(part, target), ...markOf(part, target) }
    case 'input_audio':
      throw unsupported('audio', target)
    case 'input_video':
      throw unsupported('video', target)
  }
}

/** These servers fetch only HTTPS URLs and refuse a call with any other. */
const isFetchedThere = (url: string): boolean => /^https:/i.test(url)

function imageSource(part: InputImage, target: MessagesTarget): object {
  const { options } = target
  const url = part.image_url
  if (!url) {
    if (part.file_id != null && options.file_ids) return { type: 'file', file_id: part.file_id }
    throw unsupported('images by file id', target)
  }
  if (options.image_urls && isFetchedThere(url)) return { type: 'url', url }
  const inline = isRemote(url) ? fetched(url, target) : readDataUrl(url)
  if (inline === undefined) throw new GatewayError('invalid_image', 'image_url is neither an http URL nor a data URL', { path: 'input' })
  const mimeType = imageType(inline)
  if (!IMAGE_TYPES.has(mimeType)) {
    throw new GatewayError('unsupported_image_format', `${target.providerName} takes JPEG, PNG, GIF and WebP, not ${mimeType || 'an unknown type'}`, {
      failover: 'next',
      path: 'input',
      providerName: target.providerName,
    })
  }
  return { type: 'base64', media_type: mimeType, data: inline.data }
}

function fetched(url: string, target: MessagesTarget): InlineData {
  const media = target.media?.get(url)
  if (media === undefined) throw new GatewayError('image_download_failed', `Could not fetch ${url.slice(0, 200)}`, { path: 'input' })
  return media
}

/** Only PDFs may be sent by URL; what looks like text is fetched. */
const staysRemote = (url: string, target: MessagesTarget): boolean => target.options.document_urls && isFetchedThere(url) && !isTextName(url)

function documentBlock(part: InputFile, target: MessagesTarget): Block {
  if (!target.options.documents) throw unsupported('files', target)
  const source = documentSource(part, target)
  return {
    type: 'document',
    source,
    ...(part.filename ? { title: part.filename } : {}),
    ...(target.options.document_citations || part.cited !== undefined ? CITED : {}),
  }
}

function documentSource(part: InputFile, target: MessagesTarget): object {
  const url = part.file_data || part.file_url
  if (!url) {
    if (part.file_id != null && target.options.file_ids) return { type: 'file', file_id: part.file_id }
    throw unsupported('files by id', target)
  }
  if (isElsewhere(part)) throw unsupported('files from this kind of address', target)
  if (staysRemote(url, target)) return { type: 'url', url }
  // Bare base64 does not state its type, so its name or its first bytes decide.
  const inline: InlineData = isRemote(url) ? fetched(url, target) : (readDataUrl(url) ?? { mimeType: '', data: url })
  if (inline.mimeType === 'application/pdf' || looksLikePdf(inline.data)) return { type: 'base64', media_type: 'application/pdf', data: inline.data }
  if (isTextType(inline.mimeType) || isTextName(part.filename) || (isRemote(url) && isTextName(url))) {
    return { type: 'text', media_type: 'text/plain', data: decodeText(Buffer.from(inline.data, 'base64')) }
  }
  throw unsupported(`files of type ${inline.mimeType || 'unknown'}`, target)
}

/** Encodes a part if this endpoint accepts it. An unsupported part of a tool result becomes a note, whereas the user's own is refused. */
export function tryEncodePart(part: ContentPart, target: MessagesTarget): Block | undefined {
  try {
    return encodePart(part, target)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** Remote URLs that must be fetched before encoding, because this endpoint requires the bytes. */
export function mediaToInline(request: ModelRequest, target: MessagesTarget): string[] {
  const { options } = target
  const urls = new Set<string>()
  visitParts(request.input, (part) => {
    if (part.type === 'input_image' && part.image_url && isRemote(part.image_url) && !(options.image_urls && isFetchedThere(part.image_url)))
      urls.add(part.image_url)
    if (part.type !== 'input_file' || !options.documents) return
    const url = part.file_data || part.file_url
    if (url && isRemote(url) && !staysRemote(url, target)) urls.add(url)
  })
  return [...urls]
}

import { GatewayError } from '../../core/error.ts'
import type { Target } from '../../core/dialect.ts'
import type { InputFile, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { visitParts, type ContentPart } from '../shared/content-parts.ts'
import { readDataUrl } from '../shared/data-url.ts'
import { isElsewhere } from '../shared/file-data.ts'
import { traitsOf } from './model-traits.ts'
import type { ModelTraits } from './model-traits.ts'
import type { BedrockConverseOptions } from './options.ts'

export type BedrockTarget = Target<BedrockConverseOptions>
export type MediaKind = ModelTraits['media'][number]

/** A medium in the terms of this format. */
interface Medium {
  readonly kind: MediaKind
  readonly format: string
  readonly source: JsonObject
  readonly name?: string
}

/** The format's names by file ending or subtype. */
const FORMATS: { readonly [K in MediaKind]: { readonly [ending: string]: string } } = {
  image: { png: 'png', jpeg: 'jpeg', jpg: 'jpeg', gif: 'gif', webp: 'webp' },
  document: {
    pdf: 'pdf',
    csv: 'csv',
    doc: 'doc',
    msword: 'doc',
    docx: 'docx',
    'vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    xls: 'xls',
    'vnd.ms-excel': 'xls',
    xlsx: 'xlsx',
    'vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    html: 'html',
    htm: 'html',
    md: 'md',
    markdown: 'md',
    'x-markdown': 'md',
    txt: 'txt',
    plain: 'txt',
  },
  video: {
    mp4: 'mp4',
    mov: 'mov',
    quicktime: 'mov',
    mkv: 'mkv',
    'x-matroska': 'mkv',
    webm: 'webm',
    flv: 'flv',
    'x-flv': 'flv',
    mpeg: 'mpeg',
    mpg: 'mpg',
    wmv: 'wmv',
    'x-ms-wmv': 'wmv',
    '3gp': 'three_gp',
    '3gpp': 'three_gp',
  },
  audio: {
    mp3: 'mp3',
    mpeg: 'mp3',
    wav: 'wav',
    wave: 'wav',
    'x-wav': 'wav',
    aac: 'aac',
    flac: 'flac',
    ogg: 'ogg',
    opus: 'opus',
    m4a: 'm4a',
    mp4: 'mp4',
    webm: 'webm',
    pcm: 'pcm',
    pcm16: 'pcm',
  },
}
/** Other kinds of text are sent as plain text. */
const TEXT = /^(?:text\/|application\/(?:json|xml|(?:x-)?ya?ml|javascript|typescript|toml|sql|rtf))/
const TEXT_ENDING = /^(?:json|xml|log|ya?ml|toml|ini|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|css)$/

/** Another endpoint may accept it, so the error fails over. */
function unsupported(what: string, target: BedrockTarget): never {
  throw new GatewayError('invalid_prompt', `${target.providerName} takes no ${what} for this model`, {
    failover: 'next',
    path: 'input',
    providerName: target.providerName,
  })
}

const isRemote = (url: string): boolean => /^https?:/i.test(url)

/** One block of a user turn. Throws `invalid_prompt` for media that this model never accepts. */
export function encodeMedia(part: Exclude<ContentPart, { type: 'input_text' }>, target: BedrockTarget, names: DocumentNames): JsonObject {
  const medium = readMedium(part, target)
  const traits = traitsOf(target.options, target.upstreamModel)
  if (!traits.media.includes(medium.kind)) return unsupported(medium.kind === 'audio' ? 'audio' : `${medium.kind}s`, target)
  return block(medium, traits, names)
}

/** A block inside a tool result; undefined if the part must follow in the user's turn. */
export function encodeResultMedia(
  part: Exclude<ContentPart, { type: 'input_text' }>,
  target: BedrockTarget,
  names: DocumentNames,
): JsonObject | undefined {
  const traits = traitsOf(target.options, target.upstreamModel)
  const medium = readMedium(part, target)
  return traits.tool_result_media.includes(medium.kind) ? block(medium, traits, names) : undefined
}

/** Whether the model accepts the part in a user turn. An unsupported part of a tool result becomes a note, whereas the user's own is refused. */
export function takesMedia(part: Exclude<ContentPart, { type: 'input_text' }>, target: BedrockTarget): boolean {
  try {
    const { kind } = readMedium(part, target)
    return traitsOf(target.options, target.upstreamModel).media.includes(kind)
  } catch (error) {
    if (error instanceof GatewayError && error.errorType === 'invalid_prompt') return false
    throw error
  }
}

function block(medium: Medium, traits: ModelTraits, names: DocumentNames): JsonObject {
  const { kind, format, source } = medium
  if (kind !== 'document') return { [kind]: { format, source } }
  return { document: { format, name: names.take(medium.name), source, ...(traits.document_citations ? { citations: { enabled: true } } : {}) } }
}

function readMedium(part: Exclude<ContentPart, { type: 'input_text' }>, target: BedrockTarget): Medium {
  switch (part.type) {
    case 'input_image':
      return part.image_url ? fromUrl(part.image_url, 'image', undefined, target) : unsupported('images by file id', target)
    case 'input_video':
      return fromUrl(part.video_url, 'video', undefined, target)
    case 'input_audio': {
      const { data, format } = part.input_audio
      if (/^data:/i.test(data)) return fromUrl(data, 'audio', undefined, target)
      return { kind: 'audio', format: FORMATS.audio[format.toLowerCase()] ?? format, source: { bytes: data } }
    }
    case 'input_file':
      return readFile(part, target)
  }
}

function readFile(part: InputFile, target: BedrockTarget): Medium {
  const address = part.file_data || part.file_url
  if (!address) return unsupported('files by id', target)
  if (/^(?:data|https?|s3):/i.test(address)) return fromUrl(address, 'document', part.filename ?? undefined, target)
  if (isElsewhere(part)) return unsupported('files from this kind of address', target)
  return classify(address, undefined, part.filename ?? undefined, 'document', target)
}

function fromUrl(url: string, assumed: MediaKind, name: string | undefined, target: BedrockTarget): Medium {
  if (/^data:/i.test(url)) return fromDataUrl(url, assumed, name, target)
  if (/^s3:/i.test(url)) {
    if (!traitsOf(target.options, target.upstreamModel).s3_locations) return unsupported('media from s3:// addresses', target)
    const { kind, format } = classify('', undefined, name ?? lastOf(url), assumed, target)
    return { kind, format, source: { s3Location: { uri: url } }, name: name ?? lastOf(url) }
  }
  if (!isRemote(url)) return unsupported('media from this kind of address', target)
  const media = target.media?.get(url)
  if (media === undefined) throw new GatewayError('image_download_failed', `Could not fetch ${url.slice(0, 200)}`, { path: 'input' })
  return classify(media.data, media.mimeType, name ?? lastOf(url), assumed, target)
}

function fromDataUrl(url: string, assumed: MediaKind, name: string | undefined, target: BedrockTarget): Medium {
  const read = readDataUrl(url)
  return read === undefined ? unsupported('data URLs without data', target) : classify(read.data, read.mimeType, name, assumed, target)
}

const lastOf = (url: string): string => url.split(/[?#]/)[0]!.split('/').pop() ?? ''

const MAIN_TYPES: ReadonlyMap<string, MediaKind> = new Map([
  ['image', 'image'],
  ['video', 'video'],
  ['audio', 'audio'],
])

/**
 * Determines the kind of data: from its first bytes for images and PDF, then from its type, then from the ending of its name, then from the kind of
 * part that contains it.
 */
function classify(data: string, mimeType: string | undefined, name: string | undefined, assumed: MediaKind, target: BedrockTarget): Medium {
  const source = { bytes: data }
  const withName = name === undefined ? {} : { name }
  const sniffed = sniff(data)
  if (sniffed !== undefined) return { ...sniffed, source, ...withName }
  const [main = '', subtype = ''] = (mimeType ?? '').split('/')
  const kind = MAIN_TYPES.get(main) ?? assumed
  const ending = /\.([a-z0-9]+)$/i.exec(name ?? '')?.[1]?.toLowerCase() ?? ''
  const format = FORMATS[kind][subtype] ?? FORMATS[kind][ending] ?? (kind === 'document' ? textFormat(mimeType, ending, name) : undefined)
  if (format !== undefined) return { kind, format, source, ...withName }
  if (assumed === 'image' && (mimeType === undefined || mimeType === '')) return { kind: 'image', format: 'png', source }
  return unsupported(`media of the type ${mimeType || ending || 'unknown'}`, target)
}

function textFormat(mimeType: string | undefined, ending: string, name: string | undefined): string | undefined {
  if (TEXT.test(mimeType ?? '') || TEXT_ENDING.test(ending)) return 'txt'
  // Data without type and name has always meant PDF.
  return !mimeType && name === undefined ? 'pdf' : undefined
}

/** First bytes in base64. */
const SIGNATURES: readonly (readonly [start: string, kind: MediaKind, format: string])[] = [
  ['iVBORw0KGgo', 'image', 'png'],
  ['/9j/', 'image', 'jpeg'],
  ['R0lGOD', 'image', 'gif'],
  ['JVBERi0', 'document', 'pdf'],
]

function sniff(base64: string): { readonly kind: MediaKind; readonly format: string } | undefined {
  const found = SIGNATURES.find(([start]) => base64.startsWith(start))
  if (found !== undefined) return { kind: found[1], format: found[2] }
  // RIFF is a container for several kinds of data; the kind is stated after the length.
  if (base64.startsWith('UklGR') && Buffer.from(base64.slice(0, 16), 'base64').toString('latin1', 8, 12) === 'WEBP')
    return { kind: 'image', format: 'webp' }
  return undefined
}

/** Names of documents may contain only letters, digits, single spaces, hyphens, parentheses and brackets, and each must be unique in a request. */
export class DocumentNames {
  readonly #taken = new Set<string>()

  take(wanted: string | undefined): string {
    const stem = (wanted ?? '').replace(/\.[a-z0-9]+$/i, '')
    const clean =
      stem
        .replace(/[^a-zA-Z0-9\s\-()[\]]/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, 180)
        .trim() || 'Document'
    let name = clean
    for (let n = 2; this.#taken.has(name); n++) name = `${clean} ${n}`
    this.#taken.add(name)
    return name
  }
}

/** All remote URLs, because this format accepts only bytes. */
export function mediaUrls(request: ModelRequest): string[] {
  const urls = new Set<string>()
  visitParts(request.input, (part) => {
    const url =
      part.type === 'input_image'
        ? part.image_url
        : part.type === 'input_video'
          ? part.video_url
          : part.type === 'input_file'
            ? part.file_data || part.file_url
            : undefined
    if (url && isRemote(url)) urls.add(url)
  })
  return [...urls]
}

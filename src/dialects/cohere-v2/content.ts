import { GatewayError } from '../../core/error.ts'
import type { Target } from '../../core/dialect.ts'
import type { InputFile, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { visitParts, type ContentPart } from '../shared/content-parts.ts'
import { isElsewhere } from '../shared/file-data.ts'
import type { CohereV2Options } from './options.ts'
import { matchesModel } from './options.ts'
import { dataHead } from '../../lib/data-head.ts'

export type CohereTarget = Target<CohereV2Options>

/** Another endpoint may accept it, so the error fails over. */
function unsupported(what: string, target: CohereTarget): never {
  throw new GatewayError('invalid_prompt', `${target.providerName} takes no ${what} for this model`, {
    failover: 'next',
    path: 'input',
    providerName: target.providerName,
  })
}

const readsImages = ({ options, upstreamModel }: CohereTarget): boolean => matchesModel(options.vision_models, upstreamModel)

/** Texts that the model may cite, collected from the files of the conversation. */
export class Documents {
  readonly list: JsonObject[] = []

  add(part: InputFile, target: CohereTarget): void {
    const text = textOfFile(part, target)
    const title = part.filename ?? undefined
    this.list.push({ id: `doc:${this.list.length}`, data: { ...(title === undefined ? {} : { title }), text } })
  }
}

/** One block of a user message; files become documents next to the conversation. */
export function encodePart(part: ContentPart, target: CohereTarget, documents: Documents): JsonObject[] {
  switch (part.type) {
    case 'input_text':
      return [{ type: 'text', text: part.text }]
    case 'input_image': {
      if (!readsImages(target)) return unsupported('images', target)
      if (!part.image_url) return unsupported('images by file id', target)
      const detail = part.detail === 'low' || part.detail === 'high' || part.detail === 'auto' ? { detail: part.detail } : {}
      return [{ type: 'image_url', image_url: { url: part.image_url, ...detail } }]
    }
    case 'input_file':
      documents.add(part, target)
      return []
    case 'input_audio':
      return unsupported('audio', target)
    case 'input_video':
      return unsupported('video', target)
  }
}

/** Whether the model accepts the part at all. An unsupported part of a tool result becomes a note, whereas the user's own is refused. */
export function canEncode(part: ContentPart, target: CohereTarget): boolean {
  if (part.type === 'input_text') return true
  if (part.type === 'input_image') return readsImages(target) && Boolean(part.image_url)
  if (part.type !== 'input_file') return false
  try {
    textOfFile(part, target)
    return true
  } catch (error) {
    if (error instanceof GatewayError && error.errorType === 'invalid_prompt') return false
    throw error
  }
}

const TEXT = /^(?:text\/|application\/(?:json|xml|(?:x-)?ya?ml|javascript|typescript|toml|sql))/
const TEXT_NAME = /\.(?:txt|md|csv|json|xml|html?|ya?ml|log|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|toml|ini|css)$/i
const isRemote = (url: string): boolean => /^https?:/i.test(url)

/** The text of a file; this format accepts no other kind. */
function textOfFile(part: InputFile, target: CohereTarget): string {
  const address = part.file_data || part.file_url
  if (!address) return unsupported('files by id', target)
  if (isElsewhere(part)) return unsupported('files from this kind of address', target)
  const name = part.filename ?? ''
  if (isRemote(address)) {
    const media = target.media?.get(address)
    if (media === undefined) throw new GatewayError('image_download_failed', `Could not fetch ${address.slice(0, 200)}`, { path: 'input' })
    return TEXT.test(media.mimeType) ? Buffer.from(media.data, 'base64').toString() : unsupported(`files of the type ${media.mimeType}`, target)
  }
  const match = /^data:([^;,]*)((?:;[^;,]*)*),/i.exec(dataHead(address))
  if (match === null) return TEXT_NAME.test(name) ? Buffer.from(address, 'base64').toString() : unsupported('files that hold no text', target)
  if (!TEXT.test(match[1]!.toLowerCase()) && !(match[1] === '' && TEXT_NAME.test(name))) return unsupported('files that hold no text', target)
  const body = address.slice(match[0].length)
  if (/;base64/i.test(match[2]!)) return Buffer.from(body, 'base64').toString()
  try {
    return decodeURIComponent(body)
  } catch {
    return body
  }
}

/** Whether a file contains plain text, as far as can be told before it is fetched. */
export function isTextFile({ file_data: data, file_url: url, filename }: InputFile): boolean {
  const address = data || url || ''
  const name = filename ?? ''
  if (isRemote(address)) return !/\.pdf$/i.test(name || address.split(/[?#]/)[0]!)
  const type = /^data:([^;,]*)/i.exec(address)?.[1]?.toLowerCase()
  return type === undefined || type === '' ? TEXT_NAME.test(name) : TEXT.test(type)
}

/** Remote files, because their text must be extracted here. The vendor fetches images itself. */
export function mediaUrls(request: ModelRequest): string[] {
  const urls = new Set<string>()
  visitParts(request.input, (part) => {
    const url = part.type === 'input_file' ? part.file_data || part.file_url : undefined
    if (url && isRemote(url)) urls.add(url)
  })
  return [...urls]
}

import { dataHead } from '../../lib/data-head.ts'

/** The contents of a data URL, or of bare base64. */
export interface InlineData {
  /** In lower case; empty if it is not stated. */
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

export const isRemote = (url: string): boolean => /^https?:/i.test(url)

/** Undefined if it is not a data URL. Data in another encoding is converted to base64. */
export function readDataUrl(url: string): InlineData | undefined {
  const head = /^data:([^;,]*)((?:;[^;,]*)*),/i.exec(dataHead(url))
  if (head === null) return undefined
  const body = url.slice(head[0].length)
  const mimeType = head[1]!.trim().toLowerCase()
  if (/;base64/i.test(head[2]!)) return { mimeType, data: body }
  return { mimeType, data: Buffer.from(decodePercent(body)).toString('base64') }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const MAGIC: readonly (readonly [prefix: string, mimeType: string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** The type of a picture from its first bytes, because servers compare them with the declared type; if they are unknown, the declared type. */
export function imageType({ mimeType, data }: InlineData): string {
  return MAGIC.find(([prefix]) => data.startsWith(prefix))?.[1] ?? (mimeType === 'image/jpg' ? 'image/jpeg' : mimeType)
}

const TEXT_NAME =
  /\.(?:txt|md|csv|tsv|json|jsonl|xml|html?|ya?ml|log|[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|php|c|h|cc|cpp|cs|sh|sql|toml|ini|css|tex)$/i
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|javascript|toml|sql|x-sh)$|.*\+(?:json|xml)$)/

/** The path of a URL without query and fragment; other names stay unchanged. */
const bareName = (name: string): string => name.split(/[?#]/)[0]!

export const isTextName = (name: string | null | undefined): boolean => name != null && TEXT_NAME.test(bareName(name))
export const isTextType = (mimeType: string): boolean => TEXT_TYPE.test(mimeType)

/** Whether base64 starts like a PDF. */
export const looksLikePdf = (data: string): boolean => data.startsWith('JVBERi')

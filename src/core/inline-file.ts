import { dataHead } from '../lib/data-head.ts'
import { decodeText } from '../lib/decode-text.ts'
import { endOfLetters, sniffMediaType } from '../lib/media-type.ts'
import type { InputFile } from './item.ts'

export type FileKind = 'pdf' | 'html' | 'text'

/** A file as bytes, in whichever way the caller gave it. */
export interface FileBytes {
  readonly name: string
  readonly bytes: Uint8Array
  readonly mimeType: string
  /** As declared by the source of the file. */
  readonly charset?: string
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w-]+=[^;,]*)*)(;base64)?,/i
const TEXT_TYPES = /^text\/|[/+](?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|x-sh|sql)$/
const TEXT_NAMES = /\.(?:txt|md|markdown|csv|tsv|json|jsonl|xml|ya?ml|toml|ini|log|rst|tex|sql|sh|py|js|ts|java|c|h|cpp|go|rs|rb|php|css)$/i

/** The file that a part contains inline; undefined for a URL, an id or invalid base64. */
export function inlineFile({ file_data, file_url: url, filename }: InputFile): FileBytes | undefined {
  const data = isData(url) ? url : file_data
  if (typeof data !== 'string' || data === '' || /^https?:\/\//i.test(data)) return undefined
  const match = DATA_URL.exec(dataHead(data))
  const body = match === null ? data : data.slice(match[0].length)
  const plain = match !== null && match[3] === undefined
  const bytes = plain ? Buffer.from(unescapeText(body)) : Buffer.from(body, 'base64')
  // Percent-encoded text has been decoded already, so a declared charset no longer applies.
  const charset = plain ? undefined : /;charset=["']?([\w:.-]{1,40})/i.exec(match?.[2] ?? '')?.[1]
  return { name: nameOf(filename, undefined), bytes, mimeType: match?.[1]?.toLowerCase() ?? '', ...(charset === undefined ? {} : { charset }) }
}

function unescapeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A data URL, which contains the file itself. */
export const isData = (url: unknown): url is string => typeof url === 'string' && /^data:/i.test(url)

export function nameOf(filename: string | null | undefined, url: string | undefined): string {
  if (filename) return filename
  const last = url === undefined ? undefined : URL.parse(url)?.pathname.split('/').at(-1)
  return last || 'file'
}

/** The kind of a file, by its first bytes, its type and its name, or by all of its bytes if those say nothing. Undefined if it contains no text. */
export function kindOf({ bytes, mimeType, name }: FileBytes): FileKind | undefined {
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-' || mimeType === 'application/pdf') return 'pdf'
  if (HTML.test(mimeType) || HTML_NAMES.test(name)) return 'html'
  if (TEXT_TYPES.test(mimeType) || TEXT_NAMES.test(name)) return 'text'
  return !NO_TEXT.test(mimeType) && sniffMediaType(Buffer.from(bytes)) === 'text/plain' ? 'text' : undefined
}

/** Enough characters to recognise a file, behind the head of a data URL. */
const BEGINNING = 2_048
/** Servers read these as what they say they are. */
const NO_TEXT = /^(?:(?:image|audio|video|font)\/|application\/pdf$)/
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const HTML_NAMES = /\.x?html?$/i

/**
 * What a file that is contained inline says, if it may be shown to a model as text: because its type or its name says so, whatever its first bytes look
 * like, or because it has neither and consists of text. Undefined for all others, whose contents would take a parser.
 */
export function inlineText({ file_data: data, ...part }: Pick<InputFile, 'type' | 'file_data' | 'filename'>): string | undefined {
  const beginning = inlineFile({ ...part, file_data: data?.slice(0, BEGINNING) ?? null })
  if (beginning === undefined) return undefined
  const { mimeType, name } = beginning
  const isDeclared = TEXT_TYPES.test(mimeType) || HTML.test(mimeType) || TEXT_NAMES.test(name) || HTML_NAMES.test(name)
  // Most files are large and no text, and need not be decoded.
  if (!isDeclared && NO_TEXT.test(mimeType)) return undefined
  if (!isDeclared && !mayBeText(Buffer.from(beginning.bytes.subarray(0, 32)))) return undefined
  const { bytes, charset } = inlineFile({ ...part, file_data: data ?? null })!
  if (!isDeclared && sniffMediaType(Buffer.from(bytes)) !== 'text/plain') return undefined
  return decodeText(bytes, charset)
}

/** Without a character that the beginning ends in: some texts begin like a picture, and are told from one by being text. */
function mayBeText(beginning: Buffer): boolean {
  const type = sniffMediaType(beginning.subarray(0, endOfLetters(beginning)))
  return type === undefined || type === 'text/plain'
}

/** A text as the data URL of a file of the same type, in UTF-8 whatever charset the text itself declares. */
export function asInlineFile(part: InputFile, text: string): string {
  const mimeType = inlineFile({ ...part, file_data: part.file_data?.slice(0, BEGINNING) ?? null })?.mimeType || 'text/plain'
  const bytes = Buffer.from(text)
  const marked = decodeText(bytes) === text ? bytes : Buffer.from(`\ufeff${text}`)
  return `data:${mimeType};base64,${marked.toString('base64')}`
}

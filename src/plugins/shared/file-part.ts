import type { InputFile, InputItem, InputPart } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { dataHead } from '../../lib/data-head.ts'

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
const isData = (url: InputFile['file_url']): url is string => typeof url === 'string' && /^data:/i.test(url)

/** The URL to fetch a part's file from. Some callers put the URL into the field for data, and others the data into the field for the URL. */
export function addressOf({ file_url: url, file_data: data }: InputFile): string | undefined {
  if (isData(url)) return undefined
  if (typeof url === 'string' && url !== '') return url
  return typeof data === 'string' && /^https?:\/\//i.test(data) ? data : undefined
}

export function nameOf(filename: string | null | undefined, url: string | undefined): string {
  if (filename) return filename
  const last = url === undefined ? undefined : URL.parse(url)?.pathname.split('/').at(-1)
  return last || 'file'
}

/** The kind of a file, by its first bytes, its type and its name. Undefined if it contains no text. */
export function kindOf({ bytes, mimeType, name }: FileBytes): FileKind | undefined {
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-' || mimeType === 'application/pdf') return 'pdf'
  if (mimeType === 'text/html' || mimeType === 'application/xhtml+xml' || /\.x?html?$/i.test(name)) return 'html'
  return TEXT_TYPES.test(mimeType) || TEXT_NAMES.test(name) ? 'text' : undefined
}

/** Every file of a request. */
export function filesIn({ input }: ModelRequest): readonly InputFile[] {
  return input.flatMap((item) => partsOf(item)?.filter((part): part is InputFile => part.type === 'input_file') ?? [])
}

/** The path of a file in a request; `input` if the request does not contain it. */
export function pathOf(file: InputFile, { input }: ModelRequest): string {
  for (const [index, item] of input.entries()) {
    const at = partsOf(item)?.indexOf(file) ?? -1
    if (at >= 0) return `input[${index}].${fieldOf(item)}[${at}]`
  }
  return 'input'
}

/** The request with files replaced by the given parts; files without an entry stay. */
export function replaceFiles(request: ModelRequest, parts: ReadonlyMap<InputFile, readonly InputPart[]>): ModelRequest {
  const input = request.input.map((item): InputItem => {
    const own = partsOf(item)
    if (own === undefined || !own.some((part) => part.type === 'input_file' && parts.has(part))) return item
    const replaced = own.flatMap((part) => (part.type === 'input_file' ? markedAs(part, parts.get(part) ?? [part]) : [part]))
    return { ...item, [fieldOf(item)]: replaced }
  })
  return { ...request, input }
}

/** The replacement of a file, with the file's cache breakpoint on its last part. */
function markedAs({ prompt_cache_breakpoint: mark }: InputFile, parts: readonly InputPart[]): readonly InputPart[] {
  const last = parts.at(-1)
  if (mark == null || last === undefined) return parts
  const marked = { ...last, prompt_cache_breakpoint: mark }
  return [...parts.slice(0, -1), marked]
}

const fieldOf = ({ type }: InputItem): 'content' | 'output' => (type === 'message' ? 'content' : 'output')

function partsOf(item: InputItem): readonly InputPart[] | undefined {
  const { content, output } = item as { readonly content?: unknown; readonly output?: unknown }
  const parts = item.type === 'message' ? content : item.type.endsWith('_call_output') ? output : undefined
  return Array.isArray(parts) ? (parts as readonly InputPart[]) : undefined
}

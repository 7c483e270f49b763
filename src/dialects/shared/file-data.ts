import type { InputAudio, InputFile, InputText } from '../../core/item.ts'
import { sniffBase64 } from '../../lib/media-type.ts'
import { readDataUrl } from './data-url.ts'

/** The address of a file: `file_data` may be bare base64, and a data URL names its type. Undefined for a file that is known by its id only. */
export function fileUrl(part: InputFile): string | undefined {
  if (part.file_data)
    return /^(?:data|https?):/i.test(part.file_data) ? part.file_data : `data:${typeOf(part.file_data, part.filename)};base64,${part.file_data}`
  return part.file_url ?? undefined
}

/** Whether a file is named by an address that is neither a web address nor the file itself: its letters must not be taken for base64. */
export const isElsewhere = ({ file_data: data, file_url: url }: InputFile): boolean => !data && !!url && !/^(?:data|https?):/i.test(url)

/** Longer files are not checked for being blank. */
const MAX_BLANK = 256

/** What a model is told about a file that is empty or blank, because no vendor accepts one. Undefined for all others. */
export function noteOfEmptyFile(part: InputFile): InputText | undefined {
  const url = part.file_data ? fileUrl(part)! : (part.file_url ?? '')
  if (url.length > MAX_BLANK || !/^data:/i.test(url)) return undefined
  const { mimeType = '', data = '-' } = readDataUrl(url) ?? {}
  if (data.trim() !== '' && !(mimeType.startsWith('text/') && Buffer.from(data, 'base64').toString().trim() === '')) return undefined
  return { type: 'input_text', text: part.filename ? `[The file ${JSON.stringify(part.filename)} is empty]` : '[An empty file]' }
}

/** By its name, or else by its bytes. */
function typeOf(data: string, name: string | null | undefined): string {
  return typeOfName(name ?? '') ?? sniffBase64(data) ?? (name == null ? 'application/pdf' : 'application/octet-stream')
}

function typeOfName(name: string): string | undefined {
  if (/\.pdf$/i.test(name)) return 'application/pdf'
  return /\.(?:txt|md|csv|json|xml|html?|ya?ml|log|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|toml|ini)$/i.test(name) ? 'text/plain' : undefined
}

const EXTENSIONS: { readonly [type: string]: string } = { 'text/plain': 'txt', 'text/markdown': 'md', 'text/javascript': 'js' }

/** A name for a file without one: from the end of its address, or the type in its data URL. Servers recognize its type by that. */
export function fileNameOf(url: string | undefined): string {
  if (url === undefined) return 'file'
  if (!/^data:/i.test(url))
    return (
      url
        .split(/[?#]/)[0]!
        .replace(/^https?:\/\/[^/]*/i, '')
        .split('/')
        .pop() || 'file'
    )
  const type = /^data:([^;,]*)/i.exec(url)![1]!.trim().toLowerCase()
  const extension = EXTENSIONS[type] ?? /^(?:application|text|image)\/([a-z0-9]{2,4})$/.exec(type)?.[1]
  return extension === undefined ? 'file' : `file.${extension}`
}

/** The same audio as bare base64: callers also send data URLs, which no upstream accepts. */
export function bareAudio({ data, format }: InputAudio['input_audio']): InputAudio['input_audio'] {
  return { data: readDataUrl(data)?.data ?? data, format }
}

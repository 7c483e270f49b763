import type { InputAudio, InputFile } from '../../core/item.ts'
import { sniffBase64 } from '../../lib/media-type.ts'
import { readDataUrl } from './data-url.ts'

/** The address of a file: `file_data` may be bare base64, and a data URL says what it is. Undefined for one that is known by its id only. */
export function fileUrl(part: InputFile): string | undefined {
  if (part.file_data)
    return /^(?:data|https?):/i.test(part.file_data) ? part.file_data : `data:${typeOf(part.file_data, part.filename)};base64,${part.file_data}`
  return part.file_url ?? undefined
}

/** By the name, else by the bytes. */
function typeOf(data: string, name: string | null | undefined): string {
  return typeOfName(name ?? '') ?? sniffBase64(data) ?? (name == null ? 'application/pdf' : 'application/octet-stream')
}

function typeOfName(name: string): string | undefined {
  if (/\.pdf$/i.test(name)) return 'application/pdf'
  return /\.(?:txt|md|csv|json|xml|html?|ya?ml|log|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|toml|ini)$/i.test(name) ? 'text/plain' : undefined
}

/** The same sound as base64 alone: callers send data URLs, too, and upstreams take none. */
export function bareAudio({ data, format }: InputAudio['input_audio']): InputAudio['input_audio'] {
  return { data: readDataUrl(data)?.data ?? data, format }
}

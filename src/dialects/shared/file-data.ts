import type { InputAudio, InputFile } from '../../core/item.ts'

/** The address of a file: `file_data` may be bare base64, and a data URL says what it is. Undefined for one that is known by its id only. */
export function fileUrl(part: InputFile): string | undefined {
  if (part.file_data) return /^(?:data|https?):/i.test(part.file_data) ? part.file_data : `data:${typeOfName(part.filename)};base64,${part.file_data}`
  return part.file_url ?? undefined
}

function typeOfName(name: string | null | undefined): string {
  if (name == null || /\.pdf$/i.test(name)) return 'application/pdf'
  return /\.(?:txt|md|csv|json|xml|html?|ya?ml|log|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|toml|ini)$/i.test(name)
    ? 'text/plain'
    : 'application/octet-stream'
}

/** The same sound as base64 alone: callers send data URLs, too, and upstreams take none. */
export function bareAudio({ data, format }: InputAudio['input_audio']): InputAudio['input_audio'] {
  return { data: data.replace(/^data:[^,]{0,200};base64,/i, ''), format }
}

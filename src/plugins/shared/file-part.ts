import { isData } from '../../core/inline-file.ts'
import type { InputFile, InputItem, InputPart } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'

/** The URL to fetch a part's file from. Some callers put the URL into the field for data, and others the data into the field for the URL. */
export function addressOf({ file_url: url, file_data: data }: InputFile): string | undefined {
  if (isData(url)) return undefined
  if (typeof url === 'string' && url !== '') return url
  return typeof data === 'string' && /^https?:\/\//i.test(data) ? data : undefined
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

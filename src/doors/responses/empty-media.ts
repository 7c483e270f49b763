import type { InputItem } from '../../core/item.ts'

/** An image or file without content. `reason` completes the sentence "<path> ...". */
export interface EmptyMedia {
  readonly path: string
  readonly reason: string
}

/** The fields in which a part may have its content. */
const SOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['input_image', ['image_url', 'file_id']],
  ['input_file', ['file_data', 'file_url', 'file_id']],
])

/** Items that can contain media, and the field they have them in. Items of other types are not inspected. */
const SHOWING: ReadonlyMap<string, 'content' | 'output'> = new Map([
  ['message', 'content'],
  ['agent_message', 'content'],
  ['function_call_output', 'output'],
  ['custom_tool_call_output', 'output'],
])

/** The first image or file with all fields empty: no upstream can read it, and each would report a different error. */
export function findEmptyMedia(input: readonly InputItem[]): EmptyMedia | undefined {
  for (const [index, item] of input.entries()) {
    const field = SHOWING.get(item.type)
    const parts = field === undefined ? undefined : (item as { readonly [field: string]: unknown })[field]
    const at = Array.isArray(parts) ? parts.findIndex(isEmpty) : -1
    if (at === -1) continue
    const { type } = (parts as readonly Part[])[at]!
    const sources = SOURCES.get(type)!.map((source) => JSON.stringify(source))
    return { path: `input[${index}].${field}[${at}]`, reason: `is ${JSON.stringify(type)} and shows nothing: set ${sources.join(' or ')}` }
  }
  return undefined
}

interface Part {
  readonly type: string
  readonly [field: string]: unknown
}

const isEmpty = (part: Part): boolean => SOURCES.get(part.type)?.every((source) => part[source] == null || part[source] === '') === true

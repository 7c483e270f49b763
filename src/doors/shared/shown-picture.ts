import type { OtherItem } from '../../core/item.ts'

/** Items that hold a picture: one of a model's own answer, and one the gateway had made, in both spellings of its tool. */
const PICTURES = /^(?:image_generation_call|(?:gateway|openrouter):image_generation)$/

/** A picture of an answer: its address, or its bytes in base64 and what they are. */
export type ShownPicture = { readonly url: string } | { readonly data: string; readonly mediaType: string }

/** The picture an item shows its reader; undefined for any other item, and where none came of it. */
export function shownPicture(item: OtherItem): ShownPicture | undefined {
  const { type, result, output_format: format } = item as { readonly type: string; readonly result?: unknown; readonly output_format?: unknown }
  if (!PICTURES.test(type) || typeof result !== 'string' || result === '') return undefined
  const [prefix, named] = /^data:([^;,]*)(?:;[^,]*)?;base64,/i.exec(result) ?? ['', '']
  if (prefix === '' && /^(?:data|https?):/i.test(result)) return { url: result }
  return { data: result.slice(prefix.length), mediaType: named || `image/${typeof format === 'string' ? format : 'png'}` }
}

import type { JsonObject, OtherItem } from '../../core/item.ts'
import { DRAWN, holdsPicture } from '../../core/picture-items.ts'

/** A picture of an answer: its URL, or its bytes in base64 with their media type. */
export type ShownPicture = { readonly url: string } | { readonly data: string; readonly mediaType: string }

/** The picture that an item shows; undefined for any other item, and if no picture was made. */
export function shownPicture(item: OtherItem): ShownPicture | undefined {
  const { type, result, output_format: format } = item as { readonly type: string; readonly result?: unknown; readonly output_format?: unknown }
  if (!holdsPicture(type) || typeof result !== 'string' || result === '') return undefined
  const [prefix, named] = /^data:([^;,]*)(?:;[^,]*)?;base64,/i.exec(result) ?? ['', '']
  if (prefix === '' && /^(?:data|https?):/i.test(result)) return { url: result }
  return { data: result.slice(prefix.length), mediaType: named || `image/${typeof format === 'string' ? format : 'png'}` }
}

/**
 * A picture of an earlier answer that was shown by its address, as the item that it came from: as a part of a message no model would get it back.
 * Undefined for other addresses.
 */
export const pictureAt = (url: unknown): (JsonObject & { readonly type: string }) | undefined =>
  typeof url === 'string' && /^https?:/i.test(url) ? { type: DRAWN, status: 'completed', result: url } : undefined

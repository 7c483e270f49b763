import type { OtherItem } from '../../core/item.ts'

/** What readers take a picture for that does not say what it is. */
const USUAL = 'png'

/** A picture of an answer, as the tool that makes pictures leaves it: its bytes in base64, or its address. */
export function imageItem(result: string, mimeType = ''): OtherItem {
  const format = /^image\/([\w.+-]+)/i.exec(mimeType)?.[1]?.toLowerCase() ?? USUAL
  return { type: 'image_generation_call', status: 'completed', result, ...(format === USUAL ? {} : { output_format: format }) }
}

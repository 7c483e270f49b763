import type { OtherItem } from '../../core/item.ts'

/** The type that readers assume for a picture without one. */
const USUAL = 'png'

/** A picture in an answer, as an item of the tool that makes pictures: its bytes in base64, or its address. */
export function imageItem(result: string, mimeType = ''): OtherItem {
  const format = /^image\/([\w.+-]+)/i.exec(mimeType)?.[1]?.toLowerCase() ?? USUAL
  return { type: 'image_generation_call', status: 'completed', result, ...(format === USUAL ? {} : { output_format: format }) }
}

/** Whether the picture is given by an address and not by its bytes. */
export const isAddress = (result: string): boolean => /^(?:data|https?):/i.test(result)

/** The address of the picture in such an item; its bytes become a data URL. */
export function imageUrlOf({ type, result, output_format: format }: OtherItem): string | undefined {
  if (type !== 'image_generation_call' || typeof result !== 'string' || result === '') return undefined
  return isAddress(result) ? result : `data:image/${typeof format === 'string' ? format : USUAL};base64,${result}`
}

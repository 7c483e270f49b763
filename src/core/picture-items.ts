import { ownName } from './own-names.ts'

/** The type of pictures that a model draws itself. */
export const DRAWN = 'image_generation_call'

/** Whether items of this type hold a picture in their `result`: of a model's own answer, or made by the gateway's tool. */
export const holdsPicture = (type: string): boolean => type === DRAWN || ownName(type) === 'image_generation'

/** Tokens of a picture in an answer; vendors charge about 1,100 to 1,300 for a usual one. */
export const PICTURE_TOKENS = 1_290

/** Whether an item, or the end of one, has a picture. */
export function hasResult(item: object): boolean {
  const { result } = item as { readonly result?: unknown }
  return typeof result === 'string' && result !== ''
}

/** The address of a picture that a model drew, where its server gave one in place of the bytes. */
export function addressOfDrawn(item: object): string | undefined {
  const { type, result } = item as { readonly type?: unknown; readonly result?: unknown }
  return type === DRAWN && typeof result === 'string' && /^https?:/i.test(result) ? result : undefined
}

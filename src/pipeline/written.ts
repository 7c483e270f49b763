import type { Endpoint } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import { DRAWN, hasResult, PICTURE_TOKENS } from '../core/picture-items.ts'
import type { Usage } from '../core/usage.ts'

export const CHARS_PER_TOKEN = 4

/** How much a model has written. */
export interface Amount {
  readonly chars: number
  readonly pictures: number
}

/** Counts what a model writes while its events arrive, for estimates. */
export class Written implements Amount {
  chars = 0
  pictures = 0
  /** Items of pictures that have not come yet: one may be in the first event of its item or in the last. */
  readonly #awaited = new Set<string>()

  note(event: ModelEvent): void {
    if ('delta' in event) this.chars += event.delta.length
    else if (event.type === 'item-start' && event.item.type === DRAWN) {
      if (hasResult(event.item)) this.pictures++
      else this.#awaited.add(event.key)
    } else if (event.type === 'item-end' && this.#awaited.delete(event.key) && hasResult(event.item ?? {})) this.pictures++
  }
}

/** Tokens of what was written, if nobody counted them. A model that does not draw had its pictures made by a tool, which is paid in another way. */
export function likelyOutput(
  { chars, pictures }: Amount,
  endpoint: Pick<Endpoint, 'outputModalities'> | undefined,
): Pick<Usage, 'outputTokens' | 'imageOutputTokens'> {
  const outputTokens = Math.ceil(chars / CHARS_PER_TOKEN)
  if (pictures === 0 || endpoint?.outputModalities.has('image') !== true) return { outputTokens }
  const imageOutputTokens = pictures * PICTURE_TOKENS
  return { outputTokens: outputTokens + imageOutputTokens, imageOutputTokens }
}

import type { JsonObject } from './item.ts'

/** Settings by which a plugin chooses models, domains or modes. */
const CHOICE = /^(?:id|engine|mode|model|preset|cost_tier|price_source)$|_(?:models|domains)$/

/** The other fields of an entry in `plugins`; a plugin may pass them on to the model. */
export function wordsOfPlugin(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([field]) => !CHOICE.test(field)))
}

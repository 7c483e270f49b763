import type { JsonObject } from './item.ts'

/** Settings by which a plugin chooses models, domains or ways to work. */
const CHOICE = /^(?:id|engine|mode|model|preset|cost_tier|price_source)$|_(?:models|domains)$/

/** Other fields of an entry in `plugins`, about which a plugin may tell the model. */
export function wordsOfPlugin(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([field]) => !CHOICE.test(field)))
}

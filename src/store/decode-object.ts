import { isJsonObject } from '../lib/json.ts'

/** A JSON column as the object it holds; anything else (a hand-edited row) reads as empty. */
export function decodeObject(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

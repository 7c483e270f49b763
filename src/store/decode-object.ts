import { isJsonObject } from '../lib/json.ts'

/** A JSON column as an object; anything else (a row edited by hand) reads as empty. */
export function decodeObject(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** A JSON column as the object it holds; anything else (a hand-edited row) reads as empty. */
export function decodeObject(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: unknown }) : {}
  } catch {
    return {}
  }
}

/** The fields of a patch that name a value; null is one, undefined is not. */
export function definedOnly<T extends object>(patch: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

import { isJsonObject } from './json.ts'

/** The value without members that are null, at any depth: many clients send null for what they leave empty. List entries are kept, null or not. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, withoutNulls(member)] as const]))
  return Object.fromEntries(members)
}

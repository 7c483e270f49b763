import { isJsonObject } from './json.ts'

/**
 * The same without members that are null, at any depth: many clients write out what they leave empty. Entries of lists stay, and so does whatever
 * holds no such member.
 */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, withoutNulls(member)] as const]))
  return Object.fromEntries(members)
}

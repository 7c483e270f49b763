import { isObject } from './json.ts'

type Json = { readonly [field: string]: unknown }

const MAX_DEPTH = 3

/** Whether a usage report counts anything at all. Servers send empty ones and ones full of zeros beside the real one, or in its place. */
export function hasCounts(usage: Json, depth = 0): boolean {
  for (const value of Object.values(usage)) {
    if (typeof value === 'number' ? value > 0 : depth < MAX_DEPTH && isObject(value) && hasCounts(value, depth + 1)) return true
  }
  return false
}

/** A cumulative report over an earlier one. What it leaves out, or says null or nothing but zero to, stays. */
export function overlayCounts(before: Json, update: Json): Json {
  const merged: { [field: string]: unknown } = { ...before }
  for (const [field, value] of Object.entries(update)) {
    const known = merged[field]
    const erases = (value === 0 && typeof known === 'number') || (isObject(value) && isObject(known) && !hasCounts(value))
    if (value !== null && value !== undefined && !erases) merged[field] = value
  }
  return merged
}

import { createUsage, type Usage } from '../../core/usage.ts'
import { isObject } from './json.ts'

type Json = { readonly [field: string]: unknown }

const MAX_DEPTH = 3
/** More than any answer has, and less than -1 is where a server writes it without a sign (2^31 - 1, 2^32 - 1). */
export const MAX_REPORTED = 1e9

/**
 * Whether a usage report counts anything. Servers send empty reports and reports of zeros beside the real one, or instead of it. A report with
 * impossible counts is as good as none, and usage is estimated.
 */
export const hasCounts = (usage: Json): boolean => counts(usage, 0) && !isAbsurd(usage)

/** Whether a count is larger than there can be. */
export function isAbsurd(usage: Json, depth = 0): boolean {
  return Object.entries(usage).some(([name, value]) =>
    typeof value === 'number'
      ? value > MAX_REPORTED && /tokens?|count/i.test(name)
      : depth < MAX_DEPTH && isObject(value) && isAbsurd(value, depth + 1),
  )
}

function counts(usage: Json, depth: number): boolean {
  for (const value of Object.values(usage)) {
    if (typeof value === 'number' ? value > 0 : depth < MAX_DEPTH && isObject(value) && counts(value, depth + 1)) return true
  }
  return false
}

/**
 * What is known to be charged of an answer whose tokens nobody has counted, such as one that broke off: what the vendor's own tools did in it.
 * Undefined if they did nothing.
 */
export const runsAlone = ({ searches, unpriced = false }: { readonly searches: number; readonly unpriced?: boolean }): Usage | undefined =>
  searches > 0 || unpriced ? createUsage({ serverToolUse: searches > 0 ? { web_search: searches } : undefined, unpriced }) : undefined

/** A cumulative report on top of an earlier one. What it omits, or reports as null or zero, stays as it was. */
export function overlayCounts(before: Json, update: Json): Json {
  const merged: { [field: string]: unknown } = { ...before }
  for (const [field, value] of Object.entries(update)) {
    const known = merged[field]
    const erases = (value === 0 && typeof known === 'number') || (isObject(value) && isObject(known) && !hasCounts(value))
    if (value !== null && value !== undefined && !erases) merged[field] = value
  }
  return merged
}

/**
 * Cached tokens that are counted beside the prompt and not as part of it, as relays of Claude do: a count larger than the prompt cannot be part of
 * it, nor can counts whose sum is the total.
 */
export function countedApart(input: number, cached: number, allInput: number | undefined): number {
  if (cached <= 0 || input <= 0) return 0
  return cached > input || allInput === input + cached ? cached : 0
}

const finite = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** The cost of a call as a router reports it, USD. If the router used our own account at the vendor, it charges only its fee, and the vendor's charge is added. */
export function reportedByRouter({ cost, is_byok: byOurAccount, cost_details: details }: Json): number | undefined {
  const own = finite(cost)
  if (own === undefined) return undefined
  return own + ((byOurAccount === true && isObject(details) ? finite(details['upstream_inference_cost']) : undefined) ?? 0)
}

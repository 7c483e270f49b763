/** Values looked at before the rest is extrapolated: the hot path pays a constant, not the size of a prompt. */
const MAX_VISITS = 400

/**
 * Roughly how many bytes a JSON value occupies, in constant time: strings count by length, long lists and deep trees by the
 * average of what was seen. Good enough to bound a queue, not to bill by.
 */
export function estimateBytes(value: unknown): number {
  const budget = { visits: MAX_VISITS }
  return Math.ceil(measure(value, budget))
}

function measure(value: unknown, budget: { visits: number }): number {
  budget.visits--
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  const values = Array.isArray(value) ? (value as readonly unknown[]) : Object.values(value)
  let seen = 0
  let bytes = 0
  for (const child of values) {
    if (budget.visits <= 0) break
    bytes += measure(child, budget)
    seen++
  }
  return 32 + values.length * 8 + (seen === 0 ? values.length * 64 : (bytes / seen) * values.length)
}

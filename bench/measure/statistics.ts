/** The value below which `share` (0 to 1) of the numbers lie, by the nearest rank; NaN if there are none. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!
}

/** The middle value, or the mean of the two in the middle; NaN if there are none. NaN values are ignored. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort()
  if (sorted.length === 0) return Number.NaN
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

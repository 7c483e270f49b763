import type { Sample } from './vitals.ts'

const MB = 1024 * 1024

export interface Slope {
  /** Per hour, in the unit of the values. */
  readonly value: number
  /** The 95 % confidence interval, if samples were independent. Neighbouring ones are not, so the real interval is somewhat wider. */
  readonly from: number
  readonly to: number
}

/**
 * The slope of a series over seconds: the median of the slopes between any two points (Theil and Sen), with Sen's confidence interval from the
 * variance of Kendall's count of rising pairs. Memory rises and falls with the calls in progress, and a least-squares line would follow the few
 * points at its ends.
 */
export function slopePerHour(points: readonly { readonly at: number; readonly value: number }[]): Slope {
  const slopes = points.flatMap(({ at, value }, i) => points.slice(i + 1).map((other) => ((other.value - value) / (other.at - at)) * 3_600))
  if (slopes.length === 0) return { value: 0, from: 0, to: 0 }
  const sorted = slopes.toSorted((a, b) => a - b)
  const n = points.length
  const reach = (1.96 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)) / 2
  const at = (place: number): number => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(place)))]!
  const middle = (sorted.length - 1) / 2
  return { value: median(slopes), from: at(middle - reach), to: at(middle + reach) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

export interface Growth {
  readonly name: string
  /** Medians of the first and the last quarter after warm-up, in megabytes. */
  readonly first: number
  readonly last: number
  readonly slopeMbPerHour: Slope
  readonly allowedMb: number
}

const allowances: readonly { readonly name: string; readonly of: (sample: Sample) => number; readonly allowedMb: (first: number) => number }[] = [
  // A leak shows first in the heap after a collection. Resident memory also varies with the allocator and the page cache of the database.
  { name: 'heap after collection', of: ({ heap }) => heap, allowedMb: () => 4 },
  { name: 'delivery thread heap', of: ({ threadHeap }) => threadHeap, allowedMb: (first) => Math.max(16, first / 2) },
  { name: 'resident memory', of: ({ rss }) => rss, allowedMb: (first) => Math.max(12, first * 0.06) },
  // Without pages of files: a kernel that is short of pages, or assumes so, reclaims them, and the process reads them again.
  { name: 'of it no pages of files', of: ({ own }) => own, allowedMb: (first) => Math.max(12, first * 0.06) },
]

/** The growth from the first to the last quarter of the time after warm-up. */
export function judgeGrowth(samples: readonly Sample[], warmUpSeconds: number): readonly Growth[] {
  const settled = samples.filter(({ at }) => at >= warmUpSeconds)
  const quarter = Math.max(1, Math.floor(settled.length / 4))
  return allowances.map(({ name, of, allowedMb }) => {
    const values = settled.map((sample) => ({ at: sample.at, value: of(sample) }))
    const first = median(values.slice(0, quarter).map(({ value }) => value)) / MB
    const last = median(values.slice(-quarter).map(({ value }) => value)) / MB
    return {
      name,
      first,
      last,
      slopeMbPerHour: slopePerHour(values.map(({ at, value }) => ({ at, value: value / MB }))),
      allowedMb: allowedMb(first),
    }
  })
}

/**
 * Resources that are open at the end, when idle, and were not open at the start, when idle. Pools of connections and permanent timers are in both.
 */
export function judgeLeftOver(before: Sample, after: Sample, allowed: number): readonly string[] {
  const problems: string[] = []
  const compare = (name: string, was: number, is: number): void => {
    if (is > was + allowed) problems.push(`${name}: ${was} before, ${is} after`)
  }
  compare('files', before.files, after.files)
  compare('sockets', before.sockets, after.sockets)
  for (const kind of Object.keys(after.resources)) compare(kind, before.resources[kind] ?? 0, after.resources[kind] ?? 0)
  return problems
}

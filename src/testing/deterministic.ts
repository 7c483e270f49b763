import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'

/** A clock that only moves when told to. */
export function manualClock(start = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = start
  return { now: () => now, monotonic: () => now - start, advance: (ms) => void (now += ms) }
}

/** Consecutive ids, for tests and golden files. */
export function sequentialIds(): IdSource {
  let n = 0
  return (length) => String(++n).padStart(length, '0')
}

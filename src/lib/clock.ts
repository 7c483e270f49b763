/** The time, passed as an argument so that tests can provide their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds from an arbitrary start, never going back. */
  monotonic(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

/** A clock that only moves when told to. */
export function manualClock(start = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = start
  return { now: () => now, monotonic: () => now - start, advance: (ms) => void (now += ms) }
}

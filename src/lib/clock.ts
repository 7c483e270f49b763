/** The time, passed as an argument so that tests can provide their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds from an arbitrary start, never going back. */
  monotonic(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

import { systemClock, type Clock } from '../lib/clock.ts'

/** Kept clocks differ by less. */
const TOLERATED_MS = 5_000
/** Smaller changes of a difference are the network's. */
const STEADY_MS = 1_000

/** The time all processes on one database go by. */
export interface DatabaseClock extends Clock {
  /** The database said that it was this late, within so many milliseconds. */
  note(theirs: number, tookMs: number): void
}

/**
 * A process whose clock is wrong by more than a lease takes over what others are sending, and gives up or deletes what is not old yet. So where the
 * clocks differ the database's counts, for everything that several processes compare. `onDifference`: how far ours is ahead, when that begins, and 0 when it is over.
 */
export function createDatabaseClock(
  own: Clock,
  onDifference: (aheadMs: number) => void = () => undefined,
  wall = (): number => systemClock.now(),
): DatabaseClock {
  let aheadMs = 0
  return {
    now: () => own.now() - aheadMs,
    monotonic: () => own.monotonic(),
    note(theirs, tookMs) {
      const seen = Math.round(wall() - tookMs / 2 - theirs)
      const ahead = Math.abs(seen) < TOLERATED_MS + tookMs ? 0 : seen
      if (Math.abs(ahead - aheadMs) < STEADY_MS) return
      if (ahead === 0 || aheadMs === 0) onDifference(ahead)
      aheadMs = ahead
    },
  }
}

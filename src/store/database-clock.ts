import { systemClock, type Clock } from '../lib/clock.ts'

/** Synchronized clocks differ by less. */
const TOLERATED_MS = 5_000
/** Smaller changes of the difference are network delay. */
const STEADY_MS = 1_000

/** The time that all processes of one database share. */
export interface DatabaseClock extends Clock {
  /** The database's time, and how long its answer took, in milliseconds. */
  note(theirs: number, tookMs: number): void
}

/**
 * A process whose clock is off by more than a lease would take over what others are sending, and delete what is not old yet. So if the clocks differ,
 * the database's counts for everything that several processes compare. `onDifference`: how far our clock is ahead, when that begins; 0 when it is
 * over.
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

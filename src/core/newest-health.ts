import { defined } from '../lib/defined.ts'
import type { DeliveryHealth } from './outbox.ts'

/** Clocks of different machines differ by less. What was stored further ahead is from a clock that was set back since. */
const CLOCKS_DIFFER_MS = 10_000

/**
 * A report together with what is stored. Each process knows only what it saw itself since its start, so a restarted one, or a second worker, must not
 * wipe out when the last delivery succeeded, or why the last one failed.
 */
export function newestHealth(stored: DeliveryHealth | undefined, reported: DeliveryHealth, now: number): DeliveryHealth {
  if (stored === undefined) return reported
  const { lastSuccessAt, lastErrorAt, lastError, ...rest } = reported
  const isNewer = (at: number | undefined, than = -Infinity): boolean => at !== undefined && at > than && at <= now + CLOCKS_DIFFER_MS
  const error = isNewer(stored.lastErrorAt, lastErrorAt) ? stored : { lastErrorAt, lastError }
  return {
    ...rest,
    ...defined({
      lastSuccessAt: isNewer(stored.lastSuccessAt, lastSuccessAt) ? stored.lastSuccessAt : lastSuccessAt,
      lastErrorAt: error.lastErrorAt,
      lastError: error.lastError,
    }),
  }
}

import { fullJitter, type BackoffOptions } from '../lib/backoff.ts'

export const DELIVERY_BACKOFF: BackoffOptions = { baseMs: 1_000, maxMs: 15 * 60_000 }

/** When to try again after `tries` tries: full jitter, but not before the platform's own hint. */
export function retryAt(now: number, tries: number, afterMs: number | undefined, options: BackoffOptions, random: () => number): number {
  return now + Math.max(afterMs ?? 0, fullJitter(tries, options, random))
}

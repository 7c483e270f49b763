import type { DeliveryHealth } from '../core/outbox.ts'
import { ceiling } from '../lib/backoff.ts'

export interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly threshold: number
  /** First pause; doubles with every failed trial. */
  readonly openMs: number
  readonly maxOpenMs: number
  /** Pause after an authentication or configuration error; ends at once when the configuration changes. */
  readonly unauthorizedMs: number
}

export const BREAKER_DEFAULTS: BreakerOptions = { threshold: 5, openMs: 30_000, maxOpenMs: 15 * 60_000, unauthorizedMs: 5 * 60_000 }

/**
 * Whether a destination may be sent to. Closed: as many batches as its concurrency allows. Open or unauthorized: none until a time, then one as a
 * trial, whose result decides. A hold is the platform's own "not before", in any state.
 */
export interface Breaker {
  allows(now: number): 'all' | 'trial' | 'none'
  /** When `none` ends; undefined while something is allowed. */
  waitsUntil(now: number): number | undefined
  succeeded(): void
  failed(now: number): void
  unauthorized(now: number): void
  /** Nothing is sent before `at`. */
  hold(at: number): void
  reset(): void
  state(now: number): DeliveryHealth['breaker']
}

export function createBreaker(options: BreakerOptions = BREAKER_DEFAULTS): Breaker {
  let failures = 0
  /** Times it opened in a row; the exponent of the next pause. */
  let opened = 0
  let openUntil: number | undefined
  let refused = false
  let heldUntil = 0

  const open = (until: number): void => {
    openUntil = until
    opened++
  }
  const close = (): void => {
    failures = 0
    opened = 0
    openUntil = undefined
    refused = false
  }
  const breaker: Breaker = {
    allows(now) {
      if (now < heldUntil) return 'none'
      if (openUntil === undefined) return 'all'
      return now < openUntil ? 'none' : 'trial'
    },
    waitsUntil(now) {
      if (breaker.allows(now) !== 'none') return undefined
      return Math.max(heldUntil, openUntil ?? 0)
    },
    // A hold stays when a batch that was already on its way succeeds.
    succeeded: close,
    failed(now) {
      failures++
      // Batches sent before it opened may still fail; they are no trials.
      if (openUntil !== undefined && now < openUntil) return
      if (openUntil !== undefined || failures >= options.threshold) {
        refused = false
        open(now + ceiling(opened, { baseMs: options.openMs, maxMs: options.maxOpenMs }))
      }
    },
    unauthorized(now) {
      refused = true
      open(now + options.unauthorizedMs)
    },
    hold(at) {
      heldUntil = Math.max(heldUntil, at)
    },
    reset() {
      close()
      heldUntil = 0
    },
    state(now) {
      if (openUntil === undefined) return 'closed'
      if (refused) return 'unauthorized'
      return now < openUntil ? 'open' : 'half-open'
    },
  }
  return breaker
}

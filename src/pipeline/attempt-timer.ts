import type { Clock } from '../lib/clock.ts'
import type { AttemptLimits } from '../router/limits.ts'

export type ExpiredLimit = 'first_token' | 'idle' | 'total'

/** A stream may be silent for this many times its longest pause so far. */
const PAUSE_FACTOR = 4

/**
 * The limits of one attempt after connecting: first token (from sending to the first content event, headers included), then idle
 * (silence between reads), and total over everything. One running timer and one for the total; `stop` leaves none behind.
 */
export class AttemptTimer {
  readonly #onExpire: () => void
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #total: NodeJS.Timeout
  #phase: 'first_token' | 'idle' = 'first_token'
  #timer: NodeJS.Timeout
  #idleMs: number
  #longestIdleMs: number
  #readAt = 0
  expired: ExpiredLimit | undefined

  constructor(limits: Pick<AttemptLimits, 'firstToken' | 'idle' | 'longestIdle' | 'total'>, clock: Pick<Clock, 'monotonic'>, onExpire: () => void) {
    this.#onExpire = onExpire
    this.#clock = clock
    this.#idleMs = limits.idle
    this.#longestIdleMs = limits.longestIdle
    this.#timer = setTimeout(() => this.#expire(this.#phase), limits.firstToken)
    this.#total = setTimeout(() => this.#expire('total'), limits.total)
  }

  /** The first content event is here: from now on only silence counts. */
  content(): void {
    if (this.#phase === 'idle') return
    this.#phase = 'idle'
    this.#readAt = this.#clock.monotonic()
    this.#restart()
  }

  /** Bytes arrived. */
  progress(): void {
    if (this.#phase !== 'idle') return
    const now = this.#clock.monotonic()
    const allowed = Math.min(this.#longestIdleMs, (now - this.#readAt) * PAUSE_FACTOR)
    this.#readAt = now
    if (allowed > this.#idleMs) {
      this.#idleMs = allowed
      this.#restart()
    } else this.#timer.refresh()
  }

  /** Shortens the silence that is allowed from here on. */
  limitIdle(ms: number): void {
    this.#longestIdleMs = Math.min(this.#longestIdleMs, ms)
    if (ms >= this.#idleMs) return
    this.#idleMs = ms
    this.#phase = 'idle'
    this.#restart()
  }

  stop(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#total)
  }

  #restart(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#expire('idle'), this.#idleMs)
  }

  #expire(limit: ExpiredLimit): void {
    this.expired ??= limit
    this.stop()
    this.#onExpire()
  }
}

import type { Timeouts } from '../core/provider.ts'

export type ExpiredLimit = 'first_token' | 'idle' | 'total'

/**
 * The limits of one attempt after connecting: first token (from sending to the first content event, headers included), then idle
 * (silence between reads), and total over everything. One running timer and one for the total; `stop` leaves none behind.
 */
export class AttemptTimer {
  readonly #onExpire: () => void
  readonly #total: NodeJS.Timeout
  #phase: 'first_token' | 'idle' = 'first_token'
  #timer: NodeJS.Timeout
  #idleMs: number
  expired: ExpiredLimit | undefined

  constructor(limits: Timeouts & { readonly firstToken: number }, onExpire: () => void) {
    this.#onExpire = onExpire
    this.#idleMs = limits.idle
    this.#timer = setTimeout(() => this.#expire(this.#phase), limits.firstToken)
    this.#total = setTimeout(() => this.#expire('total'), limits.total)
  }

  /** The first content event is here: from now on only silence counts. */
  content(): void {
    if (this.#phase === 'idle') return
    this.#phase = 'idle'
    this.#restart()
  }

  /** Bytes arrived. */
  progress(): void {
    if (this.#phase === 'idle') this.#timer.refresh()
  }

  /** Shortens the silence that is allowed from here on. */
  limitIdle(ms: number): void {
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

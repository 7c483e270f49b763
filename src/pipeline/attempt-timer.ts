import type { Clock } from '../lib/clock.ts'
import type { AttemptLimits } from '../router/limits.ts'

export type ExpiredLimit = 'first_token' | 'idle' | 'total'

/** A stream may be silent for this many times its longest pause so far. */
const PAUSE_FACTOR = 4
/** A timer this late says that the process was stopped or busy, at least for as long as the timer is late. */
const LATE_MS = 20
/** Longest time given to read what arrived meanwhile: it is there already. */
const LOOK_MS = 1_000

/**
 * The limits of one attempt after connecting: first token (from sending to the first content event, headers included), then idle
 * (silence between reads), and total over everything. One running timer, for what comes first; `stop` leaves none behind.
 */
export class AttemptTimer {
  readonly #onExpire: () => void
  readonly #clock: Pick<Clock, 'monotonic'>
  /** When the total limit ends, on the monotonic clock. */
  readonly #endsAt: number
  #phase: 'first_token' | 'idle' = 'first_token'
  #timer: NodeJS.Timeout
  /** The running timer ends with the total limit, so arriving bytes do not put it off. */
  #isLast = false
  /** When the running timer ends if nothing arrives, on the monotonic clock. */
  #dueAt = 0
  /** The limit has run out, and what arrived meanwhile is being read. */
  #isLate = false
  #idleMs: number
  #longestIdleMs: number
  #readAt = 0
  /** The caller has what was read: the upstream is not read at the moment. */
  #isHeld = false
  #heldAt = 0
  /** How long, in all, the upstream was not read because a caller took its time or there was no memory. */
  heldMs = 0
  /** The part of `heldMs` from before the running timer. */
  #heldBefore = 0
  /** The limit of the phase ran out while nothing was read: only the total limit still runs. */
  #isOverdue = false
  /** What was left of the first-token limit when reading paused. */
  #leftMs = 0
  expired: ExpiredLimit | undefined

  constructor(limits: Pick<AttemptLimits, 'firstToken' | 'idle' | 'longestIdle' | 'total'>, clock: Pick<Clock, 'monotonic'>, onExpire: () => void) {
    this.#onExpire = onExpire
    this.#clock = clock
    this.#idleMs = limits.idle
    this.#longestIdleMs = limits.longestIdle
    const now = clock.monotonic()
    this.#endsAt = now + limits.total
    this.#timer = this.#start(limits.firstToken, now)
  }

  /** The first content event has arrived: from now on only silence counts. */
  content(): void {
    if (this.#phase === 'idle') return
    this.#phase = 'idle'
    this.#readAt = this.#clock.monotonic()
    this.#restart(this.#readAt)
  }

  /** Bytes arrived. */
  progress(): void {
    if (this.#phase !== 'idle' || this.#isLast) return
    const now = this.#clock.monotonic()
    const allowed = Math.min(this.#longestIdleMs, (now - this.#readAt) * PAUSE_FACTOR)
    this.#readAt = now
    const grows = allowed > this.#idleMs
    if (grows) this.#idleMs = allowed
    if (grows || this.#isLate || now + this.#idleMs >= this.#endsAt) this.#restart(now)
    else this.#timer.refresh()
  }

  /** The caller has what was read, or there is no memory for more. Until `release` the upstream is not read, so its silence does not count. */
  hold(): void {
    this.#isHeld = true
    this.#heldAt = this.#clock.monotonic()
  }

  /** The upstream is read again. */
  release(): void {
    const now = this.#clock.monotonic()
    this.#isHeld = false
    this.heldMs += now - this.#heldAt
    const isOverdue = this.#isOverdue
    this.#isOverdue = false
    if (this.#phase === 'idle') {
      this.#readAt = now
      if (isOverdue) this.#restart(now)
    } else if (isOverdue) {
      clearTimeout(this.#timer)
      this.#timer = this.#start(this.#leftMs, now)
    }
  }

  /** Lowers the allowed silence from now on. */
  limitIdle(ms: number): void {
    this.#longestIdleMs = Math.min(this.#longestIdleMs, ms)
    if (ms >= this.#idleMs) return
    this.#idleMs = ms
    this.#phase = 'idle'
    this.#restart(this.#clock.monotonic())
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #restart(now: number): void {
    clearTimeout(this.#timer)
    this.#timer = this.#start(this.#idleMs, now)
  }

  #start(ms: number, now: number): NodeJS.Timeout {
    const left = Math.max(0, this.#endsAt - now)
    this.#isLast = left <= ms
    this.#isLate = false
    this.#heldBefore = this.heldMs
    this.#dueAt = now + Math.min(ms, left)
    return setTimeout(this.#expire, Math.min(ms, left))
  }

  /** When the running timer really ends, with the pauses that it has not counted. */
  #dueOf(): number {
    if (this.#isLast) return this.#dueAt
    return this.#phase === 'idle' ? Math.max(this.#dueAt, this.#readAt + this.#idleMs) : this.#dueAt + this.heldMs - this.#heldBefore
  }

  /**
   * After a long turn of the event loop, or when a stopped process resumes, timers fire before the bytes that arrived meanwhile are read. The
   * upstream was not silent then, so those bytes are read first.
   */
  readonly #expire = (): void => {
    const dueAt = this.#dueOf()
    const now = this.#clock.monotonic()
    if (this.#isHeld && !this.#isLast) {
      this.#isOverdue = true
      this.#leftMs = Math.max(LATE_MS, dueAt - this.#heldAt)
      this.#timer = this.#start(Infinity, now)
      return
    }
    const lateMs = now - dueAt
    if (!this.#isLast && lateMs < -LATE_MS) {
      // Reading was paused for a while: the silence began when it resumed.
      this.#timer = this.#start(-lateMs, now)
      return
    }
    if (lateMs >= LATE_MS && !this.#isLate) {
      this.#isLate = true
      this.#timer = setTimeout(this.#expire, Math.min(lateMs, LOOK_MS))
      return
    }
    this.expired ??= this.#isLast ? 'total' : this.#phase
    this.stop()
    this.#onExpire()
  }
}

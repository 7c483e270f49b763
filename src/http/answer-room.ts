import type { AnswerHold } from '../core/call.ts'
import type { OverloadConfig } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'

/** Smaller answers are not counted: what they take is seen by the looks at the whole process before there are enough of them. */
const SMALL = 256 * 1024
/** An answer that grows is looked at again after so many characters. */
const STEP = 1024 * 1024
/** What a character may take until it is told: as it came, in its item, in the JSON of that, and several times in the events at the end of a stream. */
const AHEAD = 8
/** How long an answer waits for others to end before it is given up. */
const WAIT_MS = 60_000
const LOOK_MS = 100
const RETRY_MS = 5_000

export interface AnswerRoomOptions {
  readonly limits: () => Pick<OverloadConfig, 'enabled' | 'memoryShare'>
  /** Bytes this process may still use when it is to use this share of its memory at most; negative: it uses more already. */
  readonly memoryLeft: (share: number) => number
  /** Milliseconds on a clock that is never set. */
  readonly monotonic: () => number
}

interface Waiter {
  readonly answer: LargeAnswer
  readonly since: number
  readonly done: PromiseWithResolvers<void>
}

/**
 * Large answers against the memory that is left. Their calls were let in when nobody knew how long they would be, and many may come at once: what has
 * no room is not read on from its provider until others have ended, first come, first served. Where none goes on the first in line does, so that all
 * of them come to an end. What has waited for too long is given up, and its caller told so.
 */
export class AnswerRoom {
  readonly #options: AnswerRoomOptions
  #line: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  #held = 0
  /** Large answers that do not wait: those their callers are still reading as well. */
  #going = 0
  #refused = 0

  constructor(options: AnswerRoomOptions) {
    this.#options = options
  }

  /** Bytes that answers under way may still take. */
  get held(): number {
    return this.#held
  }

  /** Answers given up since the start. */
  get refused(): number {
    return this.#refused
  }

  /** How long the one has waited that waits for longest, milliseconds. */
  get waitMs(): number {
    return this.#line.length === 0 ? 0 : this.#options.monotonic() - Math.min(...this.#line.map(({ since }) => since))
  }

  /** Undefined: it may go on; else resolves when it may, and rejects when it cannot. */
  ask(answer: LargeAnswer): Promise<void> | undefined {
    const waiting = this.#line.find((waiter) => waiter.answer === answer)
    if (waiting !== undefined) return waiting.done.promise
    // What has begun comes to its end before something else begins.
    const later = answer.held === 0 ? -1 : this.#line.findIndex((waiter) => waiter.answer.held === 0)
    const place = later === -1 ? this.#line.length : later
    if (place === 0 && this.#takes(answer)) return undefined
    const done = Promise.withResolvers<void>()
    this.#line.splice(place, 0, { answer, since: this.#options.monotonic(), done })
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    // It may have been the last that went on.
    answer.waits()
    return done.promise
  }

  change(bytes: number, going: number): void {
    this.#held += bytes
    this.#going += going
    if (bytes < 0 || going < 0) this.#serve()
  }

  /** Whether there is room for what it has by now, and for what is to come. */
  #takes(answer: LargeAnswer): boolean {
    const { enabled, memoryShare } = this.#options.limits()
    const chars = Math.ceil(answer.chars / STEP) * STEP
    const isAlone = this.#going === (answer.isGoing ? 1 : 0)
    if (enabled && !isAlone && this.#held - answer.held + chars * AHEAD > this.#options.memoryLeft(memoryShare)) return false
    answer.grant(chars, chars * AHEAD)
    return true
  }

  #serve(): void {
    for (let first = this.#line[0]; first !== undefined && this.#takes(first.answer); first = this.#line[0]) {
      this.#line.shift()
      first.done.resolve()
    }
    if (this.#line.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Memory becomes free without a word. */
  #look(): void {
    const now = this.#options.monotonic()
    const waits = ({ answer, since }: Waiter): boolean => !answer.isLeft && now - since < WAIT_MS
    const over = this.#line.filter((waiter) => !waits(waiter))
    this.#line = this.#line.filter(waits)
    for (const { answer, done } of over) {
      if (!answer.isLeft) this.#refused++
      done.reject(
        new GatewayError('provider_overloaded', 'The gateway has no memory left for an answer of this size at the moment; try again', {
          retryAfterMs: RETRY_MS,
          failover: 'never',
        }),
      )
    }
    this.#serve()
  }
}

/** What the answer of one call takes. */
export class LargeAnswer implements AnswerHold {
  readonly #room: AnswerRoom
  readonly #signal: AbortSignal
  #chars = 0
  #granted = 0
  #held = 0
  #isGoing = false
  #isOver = false

  constructor(room: AnswerRoom, signal: AbortSignal) {
    this.#room = room
    this.#signal = signal
  }

  get chars(): number {
    return this.#chars
  }

  get held(): number {
    return this.#held
  }

  /** It is large, and does not wait. */
  get isGoing(): boolean {
    return this.#isGoing
  }

  /** Nobody waits for it any more. */
  get isLeft(): boolean {
    return this.#isOver || this.#signal.aborted
  }

  add(chars: number): Promise<void> | undefined {
    this.#chars += chars
    return this.#isOver || this.#chars < SMALL || this.#chars <= this.#granted ? undefined : this.#room.ask(this)
  }

  grant(chars: number, bytes: number): void {
    // One part of it may wait while another has ended it.
    if (this.#isOver) return
    this.#granted = chars
    this.#set(bytes, true)
  }

  waits(): void {
    this.#set(this.#held, false)
  }

  /** All of it is made: what is left of it is in the figures of the process. */
  told(): void {
    this.#set(0, this.#isGoing)
  }

  /** Its caller has it. */
  release(): void {
    this.#isOver = true
    this.#set(0, false)
  }

  #set(bytes: number, going: boolean): void {
    if (bytes === this.#held && going === this.#isGoing) return
    const change = [bytes - this.#held, Number(going) - Number(this.#isGoing)] as const
    this.#held = bytes
    this.#isGoing = going
    this.#room.change(...change)
  }
}

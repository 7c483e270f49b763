import type { AnswerHold } from '../core/call.ts'
import type { OverloadConfig } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'

/** Smaller answers are not counted: before there are enough of them to matter, the regular looks at the process notice their memory. */
const SMALL = 256 * 1024
/** A growing answer asks again after this many characters. */
const STEP = 1024 * 1024
/** Bytes a character may take until it is told: as received, in its item, in the item's JSON, and several times in the events that end a stream. */
const AHEAD = 8
/** How long an answer waits for others to end before it is given up. */
const WAIT_MS = 60_000
const LOOK_MS = 100
const RETRY_MS = 5_000

export interface AnswerMemoryOptions {
  readonly limits: () => Pick<OverloadConfig, 'enabled' | 'memoryShare'>
  /** Bytes the process may still use before it reaches this share of its memory; negative if it has passed it. */
  readonly memoryLeft: (share: number) => number
  /** Milliseconds on the monotonic clock. */
  readonly monotonic: () => number
}

interface Waiter {
  readonly answer: LargeAnswer
  readonly since: number
  readonly done: PromiseWithResolvers<void>
}

/**
 * Keeps large answers within the memory that is left. Their calls were admitted before anybody knew how long the answers would be, and many may come
 * at once. An answer without memory is not read on from its provider until others have ended, in the order in which they became large. If no answer can
 * proceed, the first in line does, to its end, so that all of them come to one. One that has waited too long is given up, and its caller is told why.
 * The end of a stream takes memory as well, because it tells all of the text again, so answers are given up one after the other unless there is enough.
 */
export class AnswerMemory {
  readonly #options: AnswerMemoryOptions
  #line: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  #turns = 0
  #held = 0
  /** Large answers that do not wait, including those their callers are still reading. */
  #going = 0
  #refused = 0
  /** Answers given up whose callers have not yet been told. */
  readonly #ending = new Set<LargeAnswer>()

  constructor(options: AnswerMemoryOptions) {
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

  /** How long the longest-waiting answer has waited, milliseconds. */
  get waitMs(): number {
    return this.#line.length === 0 ? 0 : this.#options.monotonic() - Math.min(...this.#line.map(({ since }) => since))
  }

  /** Undefined if it may proceed; otherwise resolves when it may, and rejects when it is given up. */
  ask(answer: LargeAnswer): Promise<void> | undefined {
    const waiting = this.#line.find((waiter) => waiter.answer === answer)
    if (waiting !== undefined) return waiting.done.promise
    // In the order in which they became large, however often they ask: if whoever went on had to line up again, all would grow to their full size together.
    const turn = (answer.turn ??= ++this.#turns)
    const later = this.#line.findIndex((waiter) => waiter.answer.turn! > turn)
    const place = later === -1 ? this.#line.length : later
    if (place === 0 && this.#takes(answer)) return undefined
    const done = Promise.withResolvers<void>()
    this.#line.splice(place, 0, { answer, since: this.#options.monotonic(), done })
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    // It may have been the last one that proceeded.
    answer.waits()
    return done.promise
  }

  change(bytes: number, going: number): void {
    this.#held += bytes
    this.#going += going
    if (bytes < 0 || going < 0) this.#serve()
  }

  ended(answer: LargeAnswer): void {
    this.#ending.delete(answer)
  }

  /** Whether there is memory for what it has by now and for what may come. */
  #takes(answer: LargeAnswer): boolean {
    const { enabled, memoryShare } = this.#options.limits()
    const chars = Math.ceil(answer.chars / STEP) * STEP
    const isAlone = this.#going === (answer.isGoing ? 1 : 0)
    if (enabled && !isAlone && this.#held - answer.held + chars * AHEAD > this.#options.memoryLeft(memoryShare)) return false
    answer.grant(chars, chars * AHEAD)
    return true
  }

  /** Whether its stream may end now: what is kept free of new answers is for the ends of others, and one of them may always proceed. */
  #ends(answer: LargeAnswer): boolean {
    const bytes = answer.chars * AHEAD
    const left = this.#options.memoryLeft((1 + this.#options.limits().memoryShare) / 2)
    if (this.#ending.size > 0 && this.#held - answer.held + bytes > left) return false
    this.#ending.add(answer)
    answer.grant(answer.chars, bytes)
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

  /** Nobody announces that memory became free. */
  #look(): void {
    const now = this.#options.monotonic()
    const isOver = ({ answer, since }: Waiter): boolean => answer.isLeft || (now - since >= WAIT_MS && this.#ends(answer))
    const over = new Set(this.#line.filter(isOver))
    this.#line = this.#line.filter((waiter) => !over.has(waiter))
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

/** The memory of one call's answer. */
export class LargeAnswer implements AnswerHold {
  /** Its place among the large answers of the process; undefined while it is small. */
  turn: number | undefined
  readonly #memory: AnswerMemory
  readonly #signal: AbortSignal
  #chars = 0
  #granted = 0
  #held = 0
  #isGoing = false
  #isOver = false

  constructor(memory: AnswerMemory, signal: AbortSignal) {
    this.#memory = memory
    this.#signal = signal
  }

  get chars(): number {
    return this.#chars
  }

  get held(): number {
    return this.#held
  }

  /** It is large and does not wait. */
  get isGoing(): boolean {
    return this.#isGoing
  }

  /** Nobody waits for it any more. */
  get isLeft(): boolean {
    return this.#isOver || this.#signal.aborted
  }

  add(chars: number): Promise<void> | undefined {
    this.#chars += chars
    return this.#isOver || this.#chars < SMALL || this.#chars <= this.#granted ? undefined : this.#memory.ask(this)
  }

  grant(chars: number, bytes: number): void {
    // One part of the answer may wait while another has ended it.
    if (this.#isOver) return
    this.#granted = chars
    this.#set(bytes, true)
  }

  waits(): void {
    this.#set(this.#held, false)
  }

  /** All of it is encoded; its remaining memory shows in the figures of the process. */
  encoded(): void {
    this.#set(0, this.#isGoing)
  }

  /** The caller has all of it. */
  release(): void {
    this.#isOver = true
    this.#memory.ended(this)
    this.#set(0, false)
  }

  #set(bytes: number, going: boolean): void {
    if (bytes === this.#held && going === this.#isGoing) return
    const change = [bytes - this.#held, Number(going) - Number(this.#isGoing)] as const
    this.#held = bytes
    this.#isGoing = going
    this.#memory.change(...change)
  }
}

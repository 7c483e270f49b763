import type { OverloadConfig } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'
import { systemClock } from '../lib/clock.ts'
import { AnswerMemory, LargeAnswer } from './answer-memory.ts'
import { BodyHold, BodyMemory } from './body-memory.ts'

/** How the process is doing. */
export interface Load {
  /** How late the event loop is, milliseconds. */
  readonly delayMs: number
  /** Share of the memory it may use, 0 to 1. */
  readonly memoryShare: number
}

export interface AdmissionStats {
  readonly inFlight: number
  /** Calls this process accepts at the moment. */
  readonly limit: number
  readonly shed: number
  /** Under pressure for more than a moment: other processes should get the calls. */
  readonly overloaded: boolean
}

/** A key may hold this many times the number of free places: a single key that floods leaves a fifth of all places to others, two leave a ninth. */
const SHARE_OF_FREE = 4
/** A key with fewer calls than this is admitted beyond the limit, up to half of it more, so that a flood does not shut out everybody else. */
const FEW = 2
const BEYOND = 1.5
/** The limit never falls below this: so few calls do not cause the pressure, whose cause may lie outside this process. */
const LEAST = 64
const LEAST_MEMORY = 8
const SHRINK = 0.9
const NEAR = 0.7
const SHRINK_MEMORY = 0.5
const GROW = 1.05
/** If answers wait this long for memory, more calls would only make the line longer. */
const LINE_MS = 1_000
/** Consecutive looks that found pressure. */
const SUSTAINED = 10
const RETRY_MS = 1_000

/**
 * Decides which new calls are accepted. While the event loop keeps up and memory is free, all of them are, up to the configured number. Under
 * pressure that number shrinks with every look, starting from the calls in flight, and grows back when the pressure is over: calls are refused before
 * those under way become slow. Costs two look-ups per call.
 */
export class Admission {
  readonly #limits: () => OverloadConfig
  readonly #bodies: BodyMemory
  readonly #answers: AnswerMemory
  readonly #byKey = new Map<string, number>()
  #limit = Infinity
  #total = 0
  #shed = 0
  #pressed = 0

  /** `memoryLeft`: see `BodyMemory`. Without it bodies and answers are not limited. */
  constructor(
    limits: () => OverloadConfig,
    memoryLeft: (share: number) => number = () => Infinity,
    monotonic = (): number => systemClock.monotonic(),
  ) {
    this.#limits = limits
    this.#bodies = new BodyMemory({ limits, memoryLeft: (share) => memoryLeft(share) - this.#answers.held })
    this.#answers = new AnswerMemory({ limits, memoryLeft: (share) => memoryLeft(share) - this.#bodies.held, monotonic })
  }

  /** Admits a call of this key; `leave` must follow. Throws GatewayError `provider_overloaded` with a retry hint. */
  enter(key: string): void {
    const { calls, enabled } = this.#limits()
    const own = this.#byKey.get(key) ?? 0
    if (enabled && !this.#hasRoom(own, Math.min(this.#limit, calls), calls)) {
      this.#shed++
      throw new GatewayError('provider_overloaded', 'The gateway has more calls than it can serve; try again', {
        retryAfterMs: RETRY_MS * Math.min(5, 1 + Math.floor(this.#pressed / SUSTAINED)),
        failover: 'never',
      })
    }
    this.#byKey.set(key, own + 1)
    this.#total++
  }

  #hasRoom(own: number, limit: number, calls: number): boolean {
    if (own < SHARE_OF_FREE * (limit - this.#total)) return true
    return own < FEW && this.#total < Math.min(calls, limit * BEYOND)
  }

  /** Memory for the body of an admitted call; `release` must follow. */
  holdBody(): BodyHold {
    return new BodyHold(this.#bodies)
  }

  /** Memory for the answer of a call whose caller leaves when this signal fires; `release` must follow. */
  holdAnswer(signal: AbortSignal): LargeAnswer {
    return new LargeAnswer(this.#answers, signal)
  }

  leave(key: string): void {
    const left = (this.#byKey.get(key) ?? 0) - 1
    if (left > 0) this.#byKey.set(key, left)
    else this.#byKey.delete(key)
    this.#total--
  }

  /** Called with the state of the process a few times a second. */
  observe({ delayMs, memoryShare }: Load): void {
    const { calls, eventLoopDelayMs, memoryShare: memoryLimit, enabled } = this.#limits()
    const scarce = memoryShare > memoryLimit
    if (enabled && (scarce || delayMs > eventLoopDelayMs || this.#answers.waitMs > LINE_MS)) {
      this.#pressed++
      const base = Math.min(this.#limit, calls, this.#total)
      // A lower limit does not end long calls sooner, so it stays near what is in flight and others are still admitted one by one.
      this.#limit = Math.floor(scarce ? Math.max(LEAST_MEMORY, base * SHRINK_MEMORY) : Math.max(LEAST, base * SHRINK, this.#total * NEAR))
    } else {
      this.#pressed = 0
      // Between half the bound and the bound nothing changes, so that the limit does not oscillate.
      if (delayMs <= eventLoopDelayMs / 2) this.#limit = Math.min(calls, Math.ceil(Math.min(this.#limit, calls) * GROW))
    }
  }

  stats(): AdmissionStats {
    return {
      inFlight: this.#total,
      limit: Math.min(this.#limit, this.#limits().calls),
      shed: this.#shed + this.#bodies.refused + this.#answers.refused,
      overloaded: this.#pressed >= SUSTAINED,
    }
  }
}

import type { OverloadConfig } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'
import { systemClock } from '../lib/clock.ts'
import { AnswerRoom, LargeAnswer } from './answer-room.ts'
import { BodyHold, BodyRoom } from './body-room.ts'

/** How the process is doing. */
export interface Load {
  /** How late the event loop is, milliseconds. */
  readonly delayMs: number
  /** Of the memory it may use, 0 to 1. */
  readonly memoryShare: number
}

export interface AdmissionStats {
  readonly inFlight: number
  /** Calls this process takes at the moment. */
  readonly limit: number
  readonly shed: number
  /** Under pressure for longer than a moment: other processes should get the calls. */
  readonly overloaded: boolean
}

/** A key may hold this many times what is still free: one that floods leaves a fifth of the room to the others, two leave a ninth. */
const SHARE_OF_FREE = 4
/** Whoever has fewer calls than this is let in beyond the limit, up to half of it more: a flood must not shut out the others. */
const FEW = 2
const BEYOND = 1.5
/** Never fewer calls than these: the machine may be slow for reasons that are not ours, and so few are not what makes it so. */
const LEAST = 64
const LEAST_MEMORY = 8
const SHRINK = 0.9
const NEAR = 0.7
const SHRINK_MEMORY = 0.5
const GROW = 1.05
/** Answers that have waited for memory for so long say that more calls would only make the line longer. */
const LINE_MS = 1_000
/** Looks in a row that found pressure. */
const SUSTAINED = 10
const RETRY_MS = 1_000

/**
 * Decides which new calls are taken. While the event loop keeps up and memory is free, that is all of them, up to the configured number.
 * Under pressure the number shrinks a little with every look, from what is in flight, and grows back when it is over: calls are refused
 * before those under way become slow. Costs a call two look-ups.
 */
export class Admission {
  readonly #limits: () => OverloadConfig
  readonly #bodies: BodyRoom
  readonly #answers: AnswerRoom
  readonly #byKey = new Map<string, number>()
  #limit = Infinity
  #total = 0
  #shed = 0
  #pressed = 0

  /** `memoryLeft`: see `BodyRoom`; without, bodies and answers of any size have room. */
  constructor(
    limits: () => OverloadConfig,
    memoryLeft: (share: number) => number = () => Infinity,
    monotonic = (): number => systemClock.monotonic(),
  ) {
    this.#limits = limits
    this.#bodies = new BodyRoom({ limits, memoryLeft: (share) => memoryLeft(share) - this.#answers.held })
    this.#answers = new AnswerRoom({ limits, memoryLeft: (share) => memoryLeft(share) - this.#bodies.held, monotonic })
  }

  /** Takes a call of this key; `leave` must follow. Throws GatewayError `provider_overloaded` with a hint when to come back. */
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

  /** Room for the body of a call that was taken; `release` must follow. */
  holdBody(): BodyHold {
    return new BodyHold(this.#bodies)
  }

  /** Room for the answer of a call whose caller is there until this signal; `release` must follow. */
  holdAnswer(signal: AbortSignal): LargeAnswer {
    return new LargeAnswer(this.#answers, signal)
  }

  leave(key: string): void {
    const left = (this.#byKey.get(key) ?? 0) - 1
    if (left > 0) this.#byKey.set(key, left)
    else this.#byKey.delete(key)
    this.#total--
  }

  /** A look at the process, a few times a second. */
  observe({ delayMs, memoryShare }: Load): void {
    const { calls, eventLoopDelayMs, memoryShare: memoryLimit, enabled } = this.#limits()
    const scarce = memoryShare > memoryLimit
    if (enabled && (scarce || delayMs > eventLoopDelayMs || this.#answers.waitMs > LINE_MS)) {
      this.#pressed++
      const base = Math.min(this.#limit, calls, this.#total)
      // Long calls do not end sooner for a smaller number: it stays near what is in flight, so that others are still let in one by one.
      this.#limit = Math.floor(scarce ? Math.max(LEAST_MEMORY, base * SHRINK_MEMORY) : Math.max(LEAST, base * SHRINK, this.#total * NEAR))
    } else {
      this.#pressed = 0
      // Between half the bound and the bound things stay as they are, so that they do not swing.
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

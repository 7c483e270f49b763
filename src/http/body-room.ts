import type { OverloadConfig } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'

/** Smaller bodies are not counted: what they take is seen by the looks at the whole process before there are enough of them. */
const SMALL = 256 * 1024
/** A body that grows is looked at again after so many bytes. */
const STEP = 1024 * 1024
/** What a byte takes until it is read: in its piece, in the whole and in the text that is made of it. */
const ARRIVING = 3
/** And until an upstream has it: in what that is sent. The rest is in the figures of the process by then. */
const READ = 1
const RETRY_MS = 1_000

export interface BodyRoomOptions {
  readonly limits: () => Pick<OverloadConfig, 'enabled' | 'memoryShare'>
  /** Bytes this process may still use when it is to use this share of its memory at most; negative: it uses more already. */
  readonly memoryLeft: (share: number) => number
}

/**
 * Large bodies against the memory that is left. Looks at the process now and then come too late for them: sixty pictures that arrive at once are more
 * than a small container has, a second before anybody knows. Where no call with a large body is under way one is always taken, so that there is no
 * process that serves none.
 */
export class BodyRoom {
  readonly #options: BodyRoomOptions
  #held = 0
  #calls = 0
  #refused = 0

  constructor(options: BodyRoomOptions) {
    this.#options = options
  }

  /** Bytes that bodies under way take. */
  get held(): number {
    return this.#held
  }

  /** Bodies refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /** For a body that holds `own` bytes until it holds `wanted`; `counted`: its call is one of those with a large body. Throws as `BodyHold.grow`. */
  check(wanted: number, own: number, counted: boolean): void {
    if (this.#calls === (counted ? 1 : 0)) return
    const { enabled, memoryShare } = this.#options.limits()
    if (!enabled || this.#held - own + wanted <= this.#options.memoryLeft(memoryShare)) return
    this.#refused++
    throw new GatewayError('provider_overloaded', 'The gateway has no memory left for a body of this size at the moment; try again', {
      retryAfterMs: RETRY_MS,
      failover: 'never',
      headers: { connection: 'close' },
    })
  }

  add(bytes: number, calls: number): void {
    this.#held += bytes
    this.#calls += calls
  }
}

/** What one body takes. */
export class BodyHold {
  readonly #room: BodyRoom
  #own = 0
  #counted = false

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** So many bytes are to come. They are not held before: whoever announces them may send nothing. Throws as `grow`. */
  announce(bytes: number): void {
    if (bytes >= SMALL) this.#room.check(bytes * ARRIVING, 0, this.#counted)
  }

  /** So many bytes are here. Throws GatewayError `provider_overloaded` where there is no memory for them. */
  grow(bytes: number): void {
    if (bytes < SMALL || bytes * ARRIVING <= this.#own) return
    const wanted = Math.ceil(bytes / STEP) * STEP * ARRIVING
    this.#room.check(wanted, this.#own, this.#counted)
    this.#set(wanted, true)
  }

  /** All of it is read. */
  read(): void {
    this.#set((this.#own / ARRIVING) * READ, this.#counted)
  }

  /** An upstream has it: what is left of it is in the figures of the process. */
  sent(): void {
    this.#set(0, this.#counted)
  }

  /** The call is over. */
  release(): void {
    this.#set(0, false)
  }

  #set(bytes: number, counted: boolean): void {
    if (bytes === this.#own && counted === this.#counted) return
    this.#room.add(bytes - this.#own, Number(counted) - Number(this.#counted))
    this.#own = bytes
    this.#counted = counted
  }
}

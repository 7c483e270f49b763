import type { OverloadConfig } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'

/** Smaller bodies are not counted: before there are enough of them to matter, the regular looks at the process notice their memory. */
const SMALL = 256 * 1024
/** A growing body asks again after this many bytes. */
const STEP = 1024 * 1024
/** Memory per byte until the body is parsed: in its chunk, in the joined body, and in the text. */
const ARRIVING = 3
/** Memory per byte until an upstream has it: in the request that is sent. The rest shows in the figures of the process by then. */
const READ = 1
const RETRY_MS = 1_000

export interface BodyMemoryOptions {
  readonly limits: () => Pick<OverloadConfig, 'enabled' | 'memoryShare'>
  /** Bytes the process may still use before it reaches this share of its memory; negative if it has passed it. */
  readonly memoryLeft: (share: number) => number
}

/**
 * Keeps large bodies within the memory that is left. The regular looks at the process come too late for them: sixty pictures at once fill a small
 * container within a second. If no call with a large body is under way one is always accepted, so that no process refuses all of them.
 */
export class BodyMemory {
  readonly #options: BodyMemoryOptions
  #held = 0
  #calls = 0
  #refused = 0

  constructor(options: BodyMemoryOptions) {
    this.#options = options
  }

  /** Bytes taken by bodies under way. */
  get held(): number {
    return this.#held
  }

  /** Bodies refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Checks whether a body that holds `own` bytes may hold `wanted`. `counted`: its call is already among those with a large body. Throws as
   * `BodyHold.grow`.
   */
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

/** The memory of one body. */
export class BodyHold {
  readonly #memory: BodyMemory
  #own = 0
  #counted = false

  constructor(memory: BodyMemory) {
    this.#memory = memory
  }

  /** This many bytes are announced. They are only checked, not held: the caller may never send them. Throws as `grow`. */
  announce(bytes: number): void {
    if (bytes >= SMALL) this.#memory.check(bytes * ARRIVING, 0, this.#counted)
  }

  /** This many bytes have arrived. Throws GatewayError `provider_overloaded` if there is no memory for them. */
  grow(bytes: number): void {
    if (bytes < SMALL || bytes * ARRIVING <= this.#own) return
    const wanted = Math.ceil(bytes / STEP) * STEP * ARRIVING
    this.#memory.check(wanted, this.#own, this.#counted)
    this.#set(wanted, true)
  }

  /** The body is parsed. */
  read(): void {
    this.#set((this.#own / ARRIVING) * READ, this.#counted)
  }

  /** An upstream has it; its remaining memory shows in the figures of the process. */
  sent(): void {
    this.#set(0, this.#counted)
  }

  /** The call is over. */
  release(): void {
    this.#set(0, false)
  }

  #set(bytes: number, counted: boolean): void {
    if (bytes === this.#own && counted === this.#counted) return
    this.#memory.add(bytes - this.#own, Number(counted) - Number(this.#counted))
    this.#own = bytes
    this.#counted = counted
  }
}

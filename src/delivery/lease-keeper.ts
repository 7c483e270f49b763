import type { Outbox } from '../core/outbox.ts'
import type { Lane } from './lane.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'
import { said } from '../lib/said.ts'

export interface LeaseKeeperOptions extends Pick<DeliveryWorkerOptions, 'owner' | 'clock' | 'onEvent'> {
  readonly outbox: Pick<Outbox, 'extend'>
  readonly leaseMs: number
}

/**
 * Holds the lease of a batch that takes long (halving, polling, a store that is away) from its start until `end`, so that nobody else sends it
 * too. While it could not be renewed it may have ended, and its rows look due: their lane leases nothing then.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #lane: Lane
  readonly #ids: readonly string[]
  readonly #lost = new AbortController()
  readonly #timer: NodeJS.Timeout
  #until: number
  #isLoose = false
  #hasEnded = false

  constructor(options: LeaseKeeperOptions, lane: Lane, ids: readonly string[]) {
    this.#options = options
    this.#lane = lane
    this.#ids = ids
    this.#until = options.clock.now() + options.leaseMs
    this.#timer = setInterval(() => void this.renew(), options.leaseMs / 3)
  }

  /** Fires when all of it is somebody else's by now, or was cancelled: what else is sent would be there twice, or for nobody. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Renews it when a part of it is over. Never rejects. */
  async renew(): Promise<void> {
    const { outbox, owner, clock, onEvent, leaseMs } = this.#options
    const now = clock.now()
    const left = this.#until - now
    // More than a whole lease: the clock was set back, and nobody else takes that end for one.
    if (left > leaseMs * 0.75 && left <= leaseMs) return
    this.#until = now + leaseMs
    try {
      const held = await outbox.extend(owner, this.#ids, this.#until)
      this.#setLoose(false)
      if (held.length === 0) this.#lost.abort()
    } catch (error) {
      // A store that fails for a moment is no fault of the destination.
      this.#setLoose(true)
      onEvent?.({ kind: 'problem', destinationId: this.#lane.id, message: said(error) })
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#setLoose(false)
    this.#hasEnded = true
  }

  #setLoose(isLoose: boolean): void {
    if (this.#hasEnded || isLoose === this.#isLoose) return
    this.#isLoose = isLoose
    this.#lane.loose += isLoose ? 1 : -1
  }
}

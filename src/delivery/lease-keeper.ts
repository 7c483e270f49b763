import type { Outbox } from '../core/outbox.ts'
import type { Lane } from './lane.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'
import { errorLine } from '../lib/error-line.ts'

export interface LeaseKeeperOptions extends Pick<DeliveryWorkerOptions, 'owner' | 'clock' | 'onEvent'> {
  readonly outbox: Pick<Outbox, 'extend'>
  readonly leaseMs: number
}

/**
 * Keeps the lease of a batch that takes long (halving, polling, a store that is away) from its start until `end`, so that nobody else sends it too.
 * If it could not be renewed it may have expired and its rows may look due, so the lane leases nothing meanwhile.
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

  /** Fires if the whole batch was leased by somebody else or cancelled: whatever is sent from then on would arrive twice, or for nobody. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Renews the lease if a part of it is over. Never rejects. */
  async renew(): Promise<void> {
    const { outbox, owner, clock, onEvent, leaseMs } = this.#options
    const now = clock.now()
    const left = this.#until - now
    // The lease seems longer than any lease: the clock was set back, and others do not see it expire at that time.
    if (left > leaseMs * 0.75 && left <= leaseMs) return
    this.#until = now + leaseMs
    try {
      const extended = await outbox.extend(owner, this.#ids, this.#until)
      this.#setLoose(false)
      if (extended.length === 0) this.#lost.abort()
    } catch (error) {
      // A store that fails for a moment is no fault of the destination.
      this.#setLoose(true)
      onEvent?.({ kind: 'problem', destinationId: this.#lane.id, message: errorLine(error) })
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

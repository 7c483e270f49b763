import type { Dispatcher } from 'undici'
import { createConnector } from './connector.ts'
import { createLookup } from './lookup.ts'
import type { Proxies } from './proxy.ts'
import { Client, isConnected, Pool } from './undici.ts'

export interface PoolShelfOptions {
  /** The most origins whose connections are kept, 512 by default. Callers with their own keys may bring many. */
  readonly maxOrigins?: number
  /** How long an unused origin is remembered, ten minutes by default. */
  readonly forgetAfterMs?: number
  /** Monotonic milliseconds. */
  readonly now?: () => number
  readonly proxies?: Proxies | undefined
}

interface Shelved {
  readonly pool: Pool
  /** Slots for connections that the pool has created. It does not remove a slot when its connection closes, only when no connection could be made. */
  places: number
  usedAt: number
  lookedAt: number
}

/** How often a pool is checked for unused slots, and how many of them justify a new pool. */
const LOOK_EVERY_MS = 60_000
const FEW_PLACES = 32
const SPARE = 4

/** A handler whose `kept` is set if its request is sent over a kept connection, so that the request can be sent again. */
export interface SentHandler extends Dispatcher.DispatchHandler {
  kept: Client | undefined
}

/** A client, which is the slot of one connection. All its handlers are `SentHandler`s. */
class KeptClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: SentHandler): boolean {
    handler.kept = isConnected(this) ? this : undefined
    return super.dispatch(options, handler)
  }
}

const lookup = createLookup()

/**
 * How long an unused connection is kept if its server does not say. Load balancers keep theirs for at least a minute. With a shorter time, a caller with a
 * request every half minute would pay two round trips and a handshake each time. If the server has closed the connection meanwhile, this is noticed and
 * costs a new connection.
 */
const KEPT_MS = 55_000

/** Pools by origin and connect limit. A pool that is removed finishes its requests first. */
export class PoolShelf {
  readonly #options: PoolShelfOptions
  readonly #now: () => number
  readonly #pools = new Map<string, Shelved>()
  readonly #leaving = new Set<Pool>()

  constructor(options: PoolShelfOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  take(origin: string, connectTimeoutMs: number): Pool {
    const key = `${origin} ${connectTimeoutMs}`
    const usedAt = this.#now()
    const known = this.#pools.get(key)
    if (known !== undefined) {
      known.usedAt = usedAt
      if (usedAt - known.lookedAt < LOOK_EVERY_MS || !isOutgrown(known, usedAt)) return known.pool
      void this.#putAway(known.pool)
    } else this.#tidy(usedAt)
    const fresh = this.#open(origin, connectTimeoutMs, usedAt)
    this.#pools.set(key, fresh)
    return fresh.pool
  }

  async destroy(): Promise<void> {
    const open = [...this.#leaving, ...[...this.#pools.values()].map(({ pool }) => pool)]
    this.#pools.clear()
    this.#leaving.clear()
    await Promise.all(open.map((pool) => pool.destroy()))
  }

  #open(origin: string, connectTimeoutMs: number, now: number): Shelved {
    const pool = new Pool(origin, {
      factory: (url, options) => {
        shelved.places++
        return new KeptClient(url, options)
      },
      connections: null,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEPT_MS,
      connect: createConnector({ timeoutMs: connectTimeoutMs, lookup, proxies: this.#options.proxies }),
    })
    const shelved: Shelved = { pool, places: 0, usedAt: now, lookedAt: now }
    pool.on('connectionError', () => void shelved.places--)
    return shelved
  }

  /** Makes room for one more pool: the longest unused are removed first. Sorted here, because new origins are rare and calls are not. */
  #tidy(now: number): void {
    const { maxOrigins = 512, forgetAfterMs = 600_000 } = this.#options
    for (const [key, { pool, usedAt }] of [...this.#pools].toSorted(([, a], [, b]) => a.usedAt - b.usedAt)) {
      if (this.#pools.size < maxOrigins && now - usedAt <= forgetAfterMs) return
      this.#pools.delete(key)
      void this.#putAway(pool)
    }
  }

  async #putAway(pool: Pool): Promise<void> {
    this.#leaving.add(pool)
    try {
      await pool.close()
    } catch {
      // The pool was destroyed meanwhile, which is just as well.
    } finally {
      this.#leaving.delete(pool)
    }
  }
}

/** Whether a pool is too large because of a burst that is over: each slot takes some kilobytes, and every call searches all of them. */
function isOutgrown(shelved: Shelved, now: number): boolean {
  shelved.lookedAt = now
  return shelved.places > FEW_PLACES && shelved.places > SPARE * shelved.pool.stats.connected
}

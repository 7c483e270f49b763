import { Pool } from './undici.ts'

export interface PoolShelfOptions {
  readonly keepAliveMs?: number
  readonly maxConnectionsPerOrigin?: number
  /** Origins whose connections are kept, 512 unless told; callers may bring many with their own keys. */
  readonly maxOrigins?: number
  /** How long an origin nobody calls is remembered, ten minutes unless told. */
  readonly forgetAfterMs?: number
  /** Milliseconds that only go forward. */
  readonly now?: () => number
}

/** Pools by origin and connect limit. A pool that is put away finishes what it has begun. */
export class PoolShelf {
  readonly #options: PoolShelfOptions
  readonly #now: () => number
  readonly #pools = new Map<string, { readonly pool: Pool; usedAt: number }>()
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
      return known.pool
    }
    this.#tidy(usedAt)
    const pool = this.#open(origin, connectTimeoutMs)
    this.#pools.set(key, { pool, usedAt })
    return pool
  }

  async destroy(): Promise<void> {
    const open = [...this.#leaving, ...[...this.#pools.values()].map(({ pool }) => pool)]
    this.#pools.clear()
    this.#leaving.clear()
    await Promise.all(open.map((pool) => pool.destroy()))
  }

  #open(origin: string, connectTimeoutMs: number): Pool {
    return new Pool(origin, {
      connections: this.#options.maxConnectionsPerOrigin ?? null,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: this.#options.keepAliveMs ?? 15_000,
      connect: { timeout: connectTimeoutMs },
    })
  }

  /** Makes room for one more: the longest unused go first. Sorted here, for a new origin is rare and a call is not. */
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
      // Destroyed meanwhile: it is gone either way.
    } finally {
      this.#leaving.delete(pool)
    }
  }
}

import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { failureOf, McpFailure } from './failure.ts'
import type { McpAddress, McpConnection } from './connection.ts'

export interface McpPoolOptions {
  /** Rejects with McpFailure. */
  readonly connect: (address: McpAddress, signal: AbortSignal) => Promise<McpConnection>
  readonly clock: Clock
  /** The most connections kept; if all are busy, further ones are used once and closed. */
  readonly max: number
  /** How long an unused connection is kept, in milliseconds. */
  readonly ttlMs: number
  /** Timeout for connecting, in milliseconds. */
  readonly connectMs: number
}

interface Entry {
  readonly ready: Promise<McpConnection>
  /** Aborts connecting; undefined once that has ended. */
  giveUp: AbortController | undefined
  /** Undefined while connecting. */
  connection?: McpConnection
  busy: number
  lastUsed: number
  /** Must not be lent again. */
  retired: boolean
}

/**
 * Connections for reuse, within an answer and between answers. Callers share one only if workspace, address and every header are equal; the key contains
 * none of these in plain text.
 */
export class McpPool {
  readonly #options: McpPoolOptions
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: McpPoolOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * Lends a connection. If it was used before and turns out to be gone, the work is tried once more on a new one: always if it may be `repeated`,
   * otherwise only if it cannot have been carried out. Rejects with McpFailure, or when the signal fires.
   */
  async use<T>(
    workspaceId: string,
    address: McpAddress,
    signal: AbortSignal,
    work: (connection: McpConnection) => Promise<T>,
    repeated = false,
  ): Promise<T> {
    const key = keyOf(workspaceId, address)
    const reused = this.#usable(key) !== undefined
    try {
      return await this.#lend(key, address, signal, work)
    } catch (error) {
      const failure = failureOf(error)
      const again = reused && !signal.aborted && (failure.kind === 'gone' || failure.kind === 'unreachable') && (repeated || failure.unsent)
      if (!again) throw failure
      return await this.#lend(key, address, signal, work)
    }
  }

  /** Closes connections that have been idle for too long. */
  sweep(): void {
    const now = this.#options.clock.monotonic()
    for (const [key, entry] of this.#entries) {
      if (entry.busy === 0 && now - entry.lastUsed >= this.#options.ttlMs) void this.#retire(key, entry)
    }
    if (this.#entries.size === 0) this.#stopTimer()
  }

  /** Closes idle connections; those in use close when they are given back. Resolves when the idle ones have ended their sessions, in bounded time. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer()
    await Promise.all([...this.#entries].map(([key, entry]) => this.#retire(key, entry)))
  }

  async #lend<T>(key: string, address: McpAddress, signal: AbortSignal, work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const entry = this.#entryFor(key, address)
    entry.busy++
    try {
      const connection = await untilAborted(entry.ready, signal)
      try {
        return await work(connection)
      } finally {
        if (connection.broken) void this.#retire(key, entry)
      }
    } finally {
      entry.busy--
      entry.lastUsed = this.#options.clock.monotonic()
      if (entry.busy === 0) this.#leave(key, entry)
    }
  }

  /** Called when nobody uses or awaits the entry any more. An aborted connection ends a moment later and must not be lent in between. */
  #leave(key: string, entry: Entry): void {
    entry.giveUp?.abort()
    if (entry.retired) void discard(entry)
    else if (entry.giveUp !== undefined) void this.#retire(key, entry)
  }

  /** A connection may break while nobody uses it: many servers and proxies end a stream on which nothing happens. */
  #usable(key: string): Entry | undefined {
    const known = this.#entries.get(key)
    if (known?.connection?.broken !== true) return known
    void this.#retire(key, known)
    return undefined
  }

  #entryFor(key: string, address: McpAddress): Entry {
    const known = this.#usable(key)
    if (known !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known
    }
    const giveUp = new AbortController()
    const limit = AbortSignal.any([giveUp.signal, AbortSignal.timeout(this.#options.connectMs)])
    const ready = this.#options.connect(address, limit)
    const entry: Entry = { ready, giveUp, busy: 0, lastUsed: this.#options.clock.monotonic(), retired: false }
    ready.then(
      (connection) => {
        entry.giveUp = undefined
        entry.connection = connection
      },
      () => {
        entry.giveUp = undefined
        void this.#retire(key, entry)
      },
    )
    if (!this.#closed && this.#makeRoom()) {
      this.#entries.set(key, entry)
      this.#timer ??= setInterval(() => this.sweep(), this.#options.ttlMs / 2).unref()
    } else entry.retired = true
    return entry
  }

  #makeRoom(): boolean {
    if (this.#entries.size < this.#options.max) return true
    for (const [key, entry] of this.#entries) {
      if (entry.busy > 0) continue
      void this.#retire(key, entry)
      return true
    }
    return false
  }

  async #retire(key: string, entry: Entry): Promise<void> {
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    if (entry.retired) return
    entry.retired = true
    if (entry.busy === 0) await discard(entry)
  }

  #stopTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function discard({ ready }: Entry): Promise<void> {
  return ready.then(
    (connection) => connection.close(),
    () => undefined,
  )
}

function keyOf(workspaceId: string, { url, headers }: McpAddress): string {
  const sorted = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([workspaceId, url, sorted]))
    .digest('base64')
}

/** Others may wait for the same connection: a caller that stops waiting does not abort it. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(new McpFailure('timeout', 'the server did not answer in time', true, signal.reason))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

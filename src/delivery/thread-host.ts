import { GatewayError } from '../core/error.ts'
import { ceiling } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import { LiveMap } from '../lib/live-map.ts'
import { restoreError, type FromThread, type ToThread } from './thread-protocol.ts'

export interface ThreadListeners {
  readonly message: (message: FromThread) => void
  /** The error that ended it, before `exit`. */
  readonly error: (error: Error) => void
  readonly exit: () => void
}

/** A thread to exchange messages with. */
export interface Thread {
  send(message: ToThread): void
  listen(listeners: ThreadListeners): void
  terminate(): Promise<unknown>
}

export interface ThreadHostOptions {
  readonly spawn: () => Thread
  readonly clock: Clock
  /** Every message of the thread that answers no call. */
  readonly onMessage: (message: Exclude<FromThread, { readonly kind: 'result' | 'error' }>) => void
  /** The thread ended by itself; another one is started after `waitMs`. */
  readonly onDeath: (error: Error | undefined, waitMs: number) => void
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number }
}

export interface ThreadHost {
  start(): void
  /**
   * Calls a method of the thread. Rejects with its error, or with `provider_overloaded` if the thread is not running, dies meanwhile or does not
   * answer within `limitMs`: then the work may or may not have been done.
   */
  call(method: string, args: readonly unknown[], limitMs?: number): Promise<unknown>
  /** Calls `stop` of the thread, then ends it. */
  close(limitMs: number): Promise<void>
}

interface Waiting {
  readonly id: number
  readonly done: PromiseWithResolvers<unknown>
  readonly timer: NodeJS.Timeout
}

const DEFAULT_LIMIT_MS = 15_000
const BACKOFF = { baseMs: 250, maxMs: 10_000 }
/** A thread that lived this long did not die of its start. */
const HEALTHY_MS = 60_000
/** Unanswered calls; beyond this, further calls are refused. */
const MAX_CALLS = 10_000

/** Keeps one thread running and calls it. If it dies, its callers must repeat what it was doing. */
export function createThreadHost(options: ThreadHostOptions): ThreadHost {
  const { spawn, clock, onMessage, onDeath, backoff = BACKOFF } = options
  const waiting = new LiveMap<number, Waiting>()
  let thread: Thread | undefined
  let nextId = 0
  let deaths = 0
  let closing = false
  let restart: NodeJS.Timeout | undefined

  const settle = (id: number, finish: (done: PromiseWithResolvers<unknown>) => void): void => {
    const call = waiting.get(id)
    if (call === undefined) return
    waiting.delete(id)
    clearTimeout(call.timer)
    finish(call.done)
  }
  const failAll = (): void => {
    for (const { id } of waiting.values()) settle(id, (done) => done.reject(unavailable('ended')))
  }
  const receive = (message: FromThread): void => {
    if (message.kind === 'result') settle(message.id, (done) => done.resolve(message.value))
    else if (message.kind === 'error') settle(message.id, (done) => done.reject(restoreError(message.error)))
    else onMessage(message)
  }

  const start = (): void => {
    const startedAt = clock.monotonic()
    const started = spawn()
    let failure: Error | undefined
    thread = started
    const ended = (): void => {
      if (thread !== started) return
      thread = undefined
      failAll()
      if (!closing) again(startedAt, failure)
    }
    started.listen({ message: receive, error: (error) => (failure = error), exit: ended })
  }

  const again = (startedAt: number, failure: Error | undefined): void => {
    deaths = clock.monotonic() - startedAt > HEALTHY_MS ? 0 : deaths + 1
    const waitMs = deaths === 0 ? backoff.baseMs : ceiling(deaths - 1, backoff)
    onDeath(failure, waitMs)
    restart = setTimeout(() => {
      const triedAt = clock.monotonic()
      try {
        start()
      } catch (error) {
        // If the system has no room for a thread, the constructor throws, and there is no `exit` event.
        again(triedAt, error instanceof Error ? error : new Error(String(error)))
      }
    }, waitMs)
  }

  const call = (method: string, args: readonly unknown[], limitMs = DEFAULT_LIMIT_MS): Promise<unknown> => {
    if (thread === undefined) return Promise.reject(unavailable('is being started'))
    if (waiting.size >= MAX_CALLS) return Promise.reject(unavailable('is busy'))
    const id = nextId++
    const done = Promise.withResolvers<unknown>()
    const timer = setTimeout(() => settle(id, () => done.reject(unavailable(`did not answer within ${limitMs} ms`))), limitMs)
    waiting.set(id, { id, done, timer })
    try {
      thread.send({ kind: 'call', id, method, args })
    } catch (error) {
      // Messages are copied, for which there may be no memory at the moment.
      settle(id, () => done.reject(unavailable('cannot be reached', error)))
    }
    return done.promise
  }

  return {
    start,
    call,
    close: async (limitMs) => {
      closing = true
      clearTimeout(restart)
      const last = thread
      if (last === undefined) return
      // A thread that cannot stop in order is terminated; its leases expire.
      await call('stop', [limitMs], limitMs + 2_000).catch(() => undefined)
      thread = undefined
      failAll()
      await last.terminate()
    },
  }
}

const unavailable = (what: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_overloaded', `The delivery thread ${what}; try again`, { retryAfterMs: 1_000, failover: 'never', cause })

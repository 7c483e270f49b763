import { GatewayError } from '../core/error.ts'
import type { FinishedGeneration, Generation, GenerationSink } from '../core/generation.ts'
import type { Packing } from '../core/store.ts'
import { fullJitter } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import { createGenerationQueue, type GenerationQueue, type QueuedGeneration } from './generation-queue.ts'
import { createLimitedInsert } from './insert-within.ts'
import { isStoreUnavailable } from './store-error.ts'

/** Events for the operator's log: counts and error texts, never a record. */
export type SinkEvent =
  /** The store did not take a batch, which is repeated after `waitMs`. `failures`: in a row. */
  | { readonly type: 'insert-failed'; readonly error: GatewayError; readonly records: number; readonly failures: number; readonly waitMs: number }
  | { readonly type: 'recovered'; readonly failures: number; readonly waiting: number }
  /** Lost because too much was waiting (`overflow`), the store refused this very record (`refused`), or the process ended first (`closed`). */
  | { readonly type: 'lost'; readonly reason: LossReason; readonly records: number; readonly error?: GatewayError }
  /** Too much was waiting, so these are written without content. */
  | { readonly type: 'content-lost'; readonly records: number }

export type LossReason = 'overflow' | 'refused' | 'closed'

export interface SinkLimits {
  /** Records and estimated bytes of one insert. */
  readonly batchRecords: number
  readonly batchBytes: number
  /** Milliseconds a record waits for others. */
  readonly maxAgeMs: number
  /** Records and estimated bytes in memory. Beyond them the oldest waiting records lose their content, and are dropped if that is not enough. */
  readonly maxRecords: number
  readonly maxBytes: number
  /** Milliseconds an insert may take before it is given up and repeated. */
  readonly insertLimitMs: number
  readonly backoff: { readonly baseMs: number; readonly maxMs: number }
  /** Milliseconds `flush` and `close` wait. */
  readonly flushLimitMs: number
}

/** The share of `maxAgeMs` after which the end of a call is a good moment to write. */
const LATE_SHARE = 0.6
/** With more records than these in that time there is no moment without a call, so they are gathered for the full time. */
const FEW_RECORDS = 16

const DEFAULT_SINK_LIMITS: SinkLimits = {
  batchRecords: 200,
  batchBytes: 4 * 1024 * 1024,
  maxAgeMs: 50,
  maxRecords: 50_000,
  maxBytes: 128 * 1024 * 1024,
  insertLimitMs: 15_000,
  backoff: { baseMs: 100, maxMs: 5_000 },
  flushLimitMs: 10_000,
}

export interface GenerationSinkOptions<P> {
  /** `behind`: how many records wait behind the batch. */
  readonly store: { readonly generations: { insertMany(batch: readonly P[], behind: number): Promise<void> } }
  readonly packing: Packing<P>
  readonly clock: Pick<Clock, 'monotonic'>
  /** Whether the workspace of this generation keeps content. Default: none does. Called once per record, on the hot path. */
  readonly keepsContent?: (generation: Generation) => boolean
  readonly onEvent?: (event: SinkEvent) => void
  readonly random?: () => number
  readonly limits?: Partial<SinkLimits>
}

export interface GenerationSinkStats {
  /** Waiting, or in the current insert. */
  readonly waiting: number
  readonly waitingBytes: number
  /** Milliseconds since the oldest of them was recorded; 0 if there is none. */
  readonly oldestAgeMs: number
  readonly recorded: number
  readonly written: number
  readonly batches: number
  readonly failures: number
  readonly lost: { readonly [R in LossReason]: number }
}

export interface WriteBehindSink extends GenerationSink {
  /** A generation that is recorded and not yet written. */
  pending(id: string, workspaceId?: string): Generation | undefined
  stats(): GenerationSinkStats
  /** Writes what is left within the limit (default `flushLimitMs`) and reports the rest as lost. Resolves to the number lost; idempotent. */
  close(limitMs?: number): Promise<number>
}

interface FlushWaiter {
  /** Resolved when this many records are settled. */
  readonly target: number
  readonly lostBefore: number
  readonly done: PromiseWithResolvers<void>
}

/** The counts, and those who wait for them. */
function createLedger<P>(queue: GenerationQueue<P>, onEvent: (event: SinkEvent) => void) {
  let waiters: FlushWaiter[] = []
  const counts = { recorded: 0, settled: 0, written: 0, batches: 0, failures: 0, lost: { overflow: 0, refused: 0, closed: 0 } }
  const totalLost = () => counts.lost.overflow + counts.lost.refused + counts.lost.closed

  function settle(entries: readonly QueuedGeneration<P>[]): void {
    queue.settle(entries)
    counts.settled += entries.length
    for (const { target, lostBefore, done } of waiters) {
      if (counts.settled < target) continue
      const missing = totalLost() - lostBefore
      if (missing === 0) done.resolve()
      else done.reject(new GatewayError('server', `${missing} generation records were lost before they could be written`))
    }
    waiters = waiters.filter(({ target }) => counts.settled < target)
  }

  return {
    counts,
    totalLost,
    get isAwaited() {
      return waiters.length > 0
    },
    write: (entries: readonly QueuedGeneration<P>[]) => {
      counts.written += entries.length
      counts.batches++
      settle(entries)
    },
    lose: (entries: readonly QueuedGeneration<P>[], reason: LossReason, error?: GatewayError) => {
      counts.lost[reason] += entries.length
      settle(entries)
      onEvent({ type: 'lost', reason, records: entries.length, ...(error ? { error } : {}) })
    },
    /** Waits until everything recorded so far is settled. Rejects if any of it was lost, or after the limit. */
    waitForAll: async (limitMs: number) => {
      const waiter: FlushWaiter = { target: counts.recorded, lostBefore: totalLost(), done: Promise.withResolvers() }
      waiters.push(waiter)
      const timer = setTimeout(() => {
        waiters = waiters.filter((other) => other !== waiter)
        const left = waiter.target - counts.settled
        waiter.done.reject(new GatewayError('provider_overloaded', `${left} generation records could not be written within ${limitMs} ms`))
      }, limitMs)
      try {
        await waiter.done.promise
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** A wait that can be cut short. */
function createPause() {
  let wake: () => void = () => undefined
  return {
    for: async (ms: number) => {
      const done = Promise.withResolvers<void>()
      const timer = setTimeout(done.resolve, ms)
      wake = done.resolve
      await done.promise
      clearTimeout(timer)
    },
    end: () => wake(),
  }
}

/** While somebody waits for a flush, a store that is away is tried at least this often. */
const AWAITED_RETRY_MS = 250

/**
 * Generations on their way to the store. `record` queues one and returns; a single writer takes batches from the front.
 *
 * The writer is idle, gathering (a timer of `maxAgeMs` runs, cut short when a batch is full), inserting, or waiting to repeat a failed batch. Only
 * one insert runs at a time. While the store is away the batch is repeated until it is back; ids make repeats harmless. If the store refuses the
 * data, the batch is halved until the one record at fault is left, which is lost and counted.
 */
export function createGenerationSink<P>(options: GenerationSinkOptions<P>): WriteBehindSink {
  const { store, packing, clock, keepsContent = () => false, onEvent = () => undefined, random = Math.random } = options
  const limits: SinkLimits = { ...DEFAULT_SINK_LIMITS, ...options.limits }
  const bounds = { records: limits.maxRecords, bytes: limits.maxBytes }
  const batchBounds = { records: limits.batchRecords, bytes: limits.batchBytes }
  const queue = createGenerationQueue(packing)
  const ledger = createLedger(queue, onEvent)
  const { counts } = ledger
  const pause = createPause()
  const inserts = createLimitedInsert<P>((batch, behind) => store.generations.insertMany(batch, behind), limits.insertLimitMs)
  let inFlight: readonly QueuedGeneration<P>[] = []
  let gathering: NodeJS.Timeout | undefined
  let state: 'idle' | 'writing' | 'closed' = 'idle'
  let closing: Promise<number> | undefined

  function record({ generation, content }: FinishedGeneration): void {
    counts.recorded++
    // Not the time of day: a clock that is set would hide that records wait, or report it where none do.
    const now = clock.monotonic()
    // Unwanted content is dropped here and not at the insert, because prompts are what would fill memory while the database is away.
    queue.push(keepsContent(generation) ? { generation, content } : { generation }, now)
    if (state === 'closed') return ledger.lose(queue.drain(), 'closed')
    const stripped = queue.stripExcess(bounds)
    if (stripped > 0) onEvent({ type: 'content-lost', records: stripped })
    const excess = queue.takeExcess(bounds)
    if (excess.length > 0) ledger.lose(excess, 'overflow')
    if (state === 'writing') return
    if (queue.waiting >= limits.batchRecords || queue.bytes >= limits.batchBytes || isGoodMoment(now)) void write()
    else gathering ??= setTimeout(() => void write(), limits.maxAgeMs)
  }

  /**
   * If calls are few, writing right after one is least likely to disturb another: a timer that fires a little later would often start writing in the
   * middle of the next call, and take the processor for as long as that whole call takes.
   */
  const isGoodMoment = (now: number): boolean =>
    queue.waiting <= FEW_RECORDS && queue.oldest !== undefined && now - queue.oldest.at >= limits.maxAgeMs * LATE_SHARE

  /** Writes until nothing waits. At most one runs, and it never rejects. */
  async function write(): Promise<void> {
    if (state !== 'idle') return
    state = 'writing'
    clearTimeout(gathering)
    gathering = undefined
    while (queue.waiting > 0) {
      inFlight = queue.take(batchBounds)
      await writeBatch(inFlight)
      inFlight = []
    }
    if (!isClosed()) state = 'idle'
  }

  // A function, because the state changes during awaits, which the compiler does not see.
  const isClosed = () => state === 'closed'

  /** Settles every entry: written, or lost for a reason. */
  async function writeBatch(batch: readonly QueuedGeneration<P>[]): Promise<void> {
    const records = batch.map(({ packed }) => packed)
    for (let attempt = 0; !isClosed(); attempt++) {
      const error = await inserts.insert(records, queue.waiting)
      // `close` gave up meanwhile and has counted these records.
      if (isClosed()) return
      if (!error) {
        if (attempt > 0) onEvent({ type: 'recovered', failures: attempt, waiting: queue.waiting })
        return ledger.write(batch)
      }
      counts.failures++
      if (!isStoreUnavailable(error)) return isolate(batch, error)
      const backoffMs = limits.backoff.baseMs / 2 + fullJitter(attempt, limits.backoff, random)
      const waitMs = ledger.isAwaited ? Math.min(AWAITED_RETRY_MS, backoffMs) : backoffMs
      onEvent({ type: 'insert-failed', error, records: batch.length, failures: attempt + 1, waitMs })
      await pause.for(waitMs)
    }
  }

  async function isolate(batch: readonly QueuedGeneration<P>[], error: GatewayError): Promise<void> {
    if (batch.length === 1) return ledger.lose(batch, 'refused', error)
    const middle = batch.length >> 1
    await writeBatch(batch.slice(0, middle))
    await writeBatch(batch.slice(middle))
  }

  async function flush(limitMs = limits.flushLimitMs): Promise<void> {
    if (counts.settled >= counts.recorded) return
    const done = ledger.waitForAll(limitMs)
    pause.end()
    void write()
    await done
  }

  async function finish(limitMs: number): Promise<number> {
    const lostBefore = ledger.totalLost()
    inserts.hurry()
    await flush(limitMs).catch(() => undefined)
    state = 'closed'
    clearTimeout(gathering)
    pause.end()
    const left = queue.drain()
    if (left.length > 0) ledger.lose(left, 'closed')
    return ledger.totalLost() - lostBefore
  }

  return {
    record,
    flush: () => flush(),
    pending: (id, workspaceId) => {
      const generation = queue.find(id)
      return workspaceId === undefined || generation?.workspaceId === workspaceId ? generation : undefined
    },
    stats: () => {
      const oldest = inFlight.find((entry) => !entry.settled) ?? queue.oldest
      const { recorded, written, batches, failures, lost } = counts
      const oldestAgeMs = oldest ? clock.monotonic() - oldest.at : 0
      return { waiting: queue.unsettled, waitingBytes: queue.bytes, oldestAgeMs, recorded, written, batches, failures, lost: { ...lost } }
    },
    close: (limitMs = limits.flushLimitMs) => (closing ??= finish(limitMs)),
  }
}

import { DESTINATION_DEFAULTS } from '../core/destination.ts'
import type { DestinationRecord, DueWork, LeasedDelivery } from '../core/outbox.ts'
import { ceiling } from '../lib/backoff.ts'
import { errorLine } from '../lib/error-line.ts'
import { BatchProcessor } from './batch-processor.ts'
import { batchDueAt } from './batching.ts'
import { BREAKER_DEFAULTS } from './breaker.ts'
import { closeLane, createLane, isOutdated, refreshLane, restLane, type Lane, type ReadyDestination } from './lane.ts'
import { createLaneTrims } from './lane-trims.ts'
import { QUEUE_BOUNDS } from './trim-queues.ts'
import type { DeliveryWorkerOptions, Tuning } from './worker-options.ts'

export type { DeliveryEvent, DeliveryWorkerOptions } from './worker-options.ts'

const TUNING: Tuning = {
  concurrency: 16,
  memoryBytes: 64_000_000,
  // Renewed while a batch is on its way; after this time others take over what a killed process held.
  leaseMs: 30_000,
  putOffMs: 100,
  pollMs: 1_000,
  queueRecords: QUEUE_BOUNDS.records,
  queueBytes: QUEUE_BOUNDS.bytes,
  trimEveryMs: 10_000,
}
/** After a failure to lease from its queue. */
const LANE_PAUSE = { baseMs: 100, maxMs: 10_000 }
/** Synchronized clocks step back by less; waiting that much longer harms nobody. */
const SET_BACK_MS = 10_000
/** The share of batches and bytes for destinations whose last batch failed or that have had none yet: even if all of them hang, they hold up no other. */
const UNPROVEN_SHARE = 0.5
/** Records of one destination counted per look; more would not change what happens next. */
const DUE_CAP = 2_000

export interface DeliveryWorker {
  start(): void
  /** Something changed: new deliveries, a changed destination. Cheap, so call it as often as you like. */
  wake(): void
  /** Stops leasing, waits for batches on their way until the deadline, and gives the rest back. */
  stop(deadlineMs?: number): Promise<void>
}

/**
 * The engine between outbox and destinations: leases what is due, batches it, has it encoded and sent, and settles the outcome of each record. One lane
 * per destination, with its own concurrency and breaker; the scheduler serves those first that waited longest. Keeps no state that a crash could
 * lose.
 */
export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  return new Engine(options)
}

class Engine implements DeliveryWorker {
  readonly #options: DeliveryWorkerOptions
  readonly #tuning: Tuning
  readonly #lanes = new Map<string, Lane>()
  readonly #inFlight = new Set<Promise<void>>()
  /** Work besides sending: trims, reports. */
  readonly #asides = new Set<Promise<unknown>>()
  readonly #abort = new AbortController()
  #bytesInFlight = 0
  /** The part of both that is on its way to unproven destinations. */
  readonly #unproven = { batches: 0, bytes: 0 }
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false
  #running = false
  #lookedAt = -Infinity
  readonly #processor: BatchProcessor
  readonly #trimInTurn: ReturnType<typeof createLaneTrims>

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options
    this.#tuning = { ...TUNING, ...options.tuning }
    this.#processor = new BatchProcessor(options, this.#tuning.leaseMs, this.#abort.signal)
    const trims = { everyMs: this.#tuning.trimEveryMs, trim: (lane: Lane) => this.#trim(lane), onWork: (work: Promise<void>) => this.#aside(work) }
    this.#trimInTurn = createLaneTrims(trims)
  }

  start(): void {
    this.#running = true
    this.wake()
  }

  wake(): void {
    if (!this.#running) return
    if (this.#looking !== undefined) {
      this.#lookAgain = true
      return
    }
    clearTimeout(this.#timer)
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
      if (this.#lookAgain) {
        this.#lookAgain = false
        this.wake()
      }
    })
  }

  async stop(deadlineMs = 10_000): Promise<void> {
    this.#running = false
    clearTimeout(this.#timer)
    const giveUp = setTimeout(() => this.#abort.abort(), deadlineMs)
    await this.#looking
    await Promise.all([...this.#inFlight, ...this.#asides])
    clearTimeout(giveUp)
    await this.#guard(undefined, () => this.#options.outbox.releaseAll(this.#options.owner))
  }

  /** Runs work whose failure is reported and goes no further. */
  async #guard(destinationId: string | undefined, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.#options.onEvent?.({ kind: 'problem', ...(destinationId === undefined ? {} : { destinationId }), message: errorLine(error) })
      return false
    }
  }

  /** One look at the queue: starts every batch that is due and may go, and sets the timer for the next look. */
  async #look(): Promise<void> {
    const now = this.#options.clock.now()
    let next = now + this.#tuning.pollMs
    const wasSetBack = now < this.#lookedAt - SET_BACK_MS
    this.#lookedAt = now
    for (const lane of this.#lanes.values()) await (wasSetBack ? this.#beginAnew(lane, now) : this.#followChange(lane, now))
    await this.#guard(undefined, async () => {
      const { work, nextAt } = await this.#options.outbox.due(now, DUE_CAP, (id) => this.#maySend(id, now))
      if (nextAt !== undefined) next = Math.min(next, nextAt)
      const waiting = work.map((each) => ({ work: each, lane: this.#lane(each.destinationId) }))
      for (const { work: each, lane } of waiting.sort((a, b) => a.lane.lastStartAt - b.lane.lastStartAt)) {
        const at = await this.#serveGuarded(lane, each, now)
        if (at !== undefined) next = Math.min(next, at)
      }
    })
    const waitMs = Math.min(this.#tuning.pollMs, Math.max(1, next - this.#options.clock.now()))
    if (this.#running) this.#timer = setTimeout(() => this.wake(), waitMs)
  }

  /** Looks are frequent: while paused and broken destinations had their queues counted, the thread that records did little else. */
  #maySend(id: string, now: number): boolean {
    const record = this.#options.destination(id)
    return record !== undefined && !isAtRest(record) && this.#lanes.get(id)?.breaker.allows(now) !== 'none'
  }

  /** After the clock was set back, what waits for a time on the old clock is tried now. */
  async #beginAnew(lane: Lane, now: number): Promise<void> {
    lane.breaker.reset()
    lane.pausedUntil = 0
    lane.lastTrimAt = 0
    lane.lastReportAt = 0
    await this.#guard(lane.id, () => this.#options.outbox.retryNow(lane.id, now))
  }

  #lane(id: string): Lane {
    let lane = this.#lanes.get(id)
    if (lane === undefined) this.#lanes.set(id, (lane = createLane(id, this.#options.breaker ?? BREAKER_DEFAULTS)))
    return lane
  }

  /** A changed destination is tried at once, with the deliveries that wait because of its old configuration. */
  async #followChange(lane: Lane, now: number): Promise<void> {
    const record = this.#options.destination(lane.id)
    if (record === undefined) return this.#close(lane)
    if (isAtRest(record)) return restLane(lane, record)
    if (!isOutdated(lane, record)) return
    this.#refresh(lane, record, now)
    await this.#guard(lane.id, () => this.#options.outbox.retryNow(lane.id, now))
  }

  /** It is forgotten with the last of its batches. */
  #close(lane: Lane): void {
    closeLane(lane)
    if (lane.inFlight === 0 && !lane.isTrimming) this.#lanes.delete(lane.id)
  }

  /** A configuration that cannot be used is shown to its owner like a refusal: nothing is sent until it changes. */
  #refresh(lane: Lane, record: DestinationRecord, now: number): void {
    const problem = refreshLane(lane, record, this.#options.types)
    if (problem === undefined) return
    this.#options.onEvent?.({ kind: 'problem', destinationId: lane.id, message: problem })
    lane.lastErrorAt = now
    lane.lastError = problem
    const { lastSuccessAt } = lane
    const since = lastSuccessAt === undefined ? {} : { lastSuccessAt }
    const health = { breaker: 'unauthorized', ...since, lastErrorAt: now, lastStatus: 0, lastError: problem } as const
    this.#aside(this.#guard(lane.id, () => this.#options.outbox.report(lane.id, health)))
  }

  /** A queue that cannot be read holds up only its own destination, and is left alone for longer and longer. */
  async #serveGuarded(lane: Lane, work: DueWork, now: number): Promise<number | undefined> {
    if (now < lane.pausedUntil) return lane.pausedUntil
    let at: number | undefined
    const served = await this.#guard(lane.id, async () => {
      at = await this.#serve(lane, work, now)
    })
    if (served) {
      lane.failures = 0
      return at
    }
    return (lane.pausedUntil = now + ceiling(lane.failures++, LANE_PAUSE))
  }

  /** Starts what one destination may send now. Returns when to look again; undefined if only an event can change anything. */
  async #serve(lane: Lane, work: DueWork, now: number): Promise<number | undefined> {
    const record = this.#options.destination(lane.id)
    if (record === undefined) return undefined
    this.#trimInTurn(lane, now)
    if (isAtRest(record)) return undefined
    this.#refresh(lane, record, now)
    const ready = lane.ready
    // The end of those batches wakes the worker.
    if (ready === undefined || lane.loose > 0) return undefined
    const { limits } = ready.type
    let left = work
    while (this.#running) {
      const dueAt = batchDueAt(left, limits)
      if (dueAt > now) return dueAt
      if (this.#options.putOff?.() === true) return now + this.#tuning.putOffMs
      const allowed = lane.breaker.allows(now)
      if (allowed === 'none') return lane.breaker.waitsUntil(now)
      const room = allowed === 'trial' ? 1 : (limits.concurrency ?? DESTINATION_DEFAULTS.concurrency)
      // The end of a batch wakes the worker, so no timer is needed while it is full.
      if (lane.inFlight >= room || this.#isFull(lane)) return undefined
      const leased = await this.#lease(lane, ready)
      if (leased.length === 0) return undefined
      this.#launch(lane, ready, leased)
      left = { ...left, records: left.records - leased.length, bytes: Math.max(0, left.bytes - leased.reduce((sum, each) => sum + each.bytes, 0)) }
      if (left.records <= 0) return undefined
    }
    return undefined
  }

  #isFull(lane: Lane): boolean {
    const { concurrency, memoryBytes } = this.#tuning
    if (this.#inFlight.size >= concurrency || this.#bytesInFlight >= memoryBytes) return true
    const { batches, bytes } = this.#unproven
    return !isProven(lane) && (batches >= Math.max(1, concurrency * UNPROVEN_SHARE) || bytes >= memoryBytes * UNPROVEN_SHARE)
  }

  /** What was read while the destination changed may contain content it may no longer see, or belong to another address, so all of it is given back. */
  async #lease(lane: Lane, { type, record }: ReadyDestination): Promise<readonly LeasedDelivery[]> {
    const { outbox, owner, destination, clock } = this.#options
    const leased = await outbox.lease(lane.id, {
      owner,
      records: type.limits.records,
      bytes: lane.expansion.leaseBytes(type.limits.bytes),
      // A look takes long with many destinations and a distant store; a lease counted from its start might be over before it is held.
      now: clock.now(),
      leaseMs: this.#tuning.leaseMs,
    })
    const fresh = leased.filter(({ id }) => !lane.sending.has(id))
    const current = destination(lane.id)
    if (current?.revision === record.revision && !isAtRest(current)) return fresh
    await outbox.settle(
      owner,
      fresh.map(({ id }) => ({ id, state: 'released' })),
    )
    return []
  }

  #launch(lane: Lane, ready: ReadyDestination, leased: readonly LeasedDelivery[]): void {
    const bytes = leased.reduce((sum, each) => sum + each.bytes, 0)
    lane.inFlight++
    lane.lastStartAt = this.#options.clock.now()
    this.#bytesInFlight += bytes
    const unproven = isProven(lane) ? { batches: 0, bytes: 0 } : { batches: 1, bytes }
    this.#unproven.batches += unproven.batches
    this.#unproven.bytes += unproven.bytes
    const batch = this.#guard(lane.id, () => this.#processor.process(lane, ready, leased)).then(() => {
      lane.inFlight--
      this.#bytesInFlight -= bytes
      this.#unproven.batches -= unproven.batches
      this.#unproven.bytes -= unproven.bytes
      this.#inFlight.delete(batch)
      this.wake()
    })
    this.#inFlight.add(batch)
  }

  async #trim(lane: Lane): Promise<void> {
    const { outbox, destination, onEvent } = this.#options
    const type = destination(lane.id)?.type
    // It was deleted while it waited for its turn, or the worker stops.
    if (type === undefined || !this.#running) return
    await this.#guard(lane.id, async () => {
      const { bodies, deliveries } = await outbox.trim(lane.id, { records: this.#tuning.queueRecords, bytes: this.#tuning.queueBytes })
      if (bodies > 0 || deliveries > 0) onEvent?.({ kind: 'trimmed', destinationId: lane.id, type, bodies, deliveries })
    })
  }

  #aside(work: Promise<unknown>): void {
    const aside: Promise<unknown> = work.then(() => this.#asides.delete(aside))
    this.#asides.add(aside)
  }
}

const isProven = ({ lastVerdict }: Lane): boolean => lastVerdict === 'ok'
const isAtRest = ({ enabled, paused }: DestinationRecord): boolean => !enabled || paused

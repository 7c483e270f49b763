import type { DeliveryRecord } from '../core/delivery.ts'
import { DESTINATION_DEFAULTS, type DestinationContext, type DestinationLimits } from '../core/destination.ts'
import type { LeasedDelivery, Settlement } from '../core/outbox.ts'
import { NotNow } from '../core/outcome.ts'
import { DELIVERY_BACKOFF, retryAt } from './backoff.ts'
import { destinationContext } from './destination-context.ts'
import type { DoubtfulAnswers } from './doubtful-answers.ts'
import type { Lane, ReadyDestination } from './lane.ts'
import { unanswered, withHint, type Unanswered } from './exchange.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { createLookUp, forgetPrepared, prepareOnce } from './prepared.ts'
import { toDeliveryRecord } from './record.ts'
import { toVerdict, type BatchReport, type BatchVerdict, type RecordResult } from './batch-report.ts'
import { sendBatch } from './send-batch.ts'
import { settlePatiently } from './settle-patiently.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

const REPORT_EVERY_MS = 5_000
/** Signatures are limited to times within this range, whatever time a platform names. */
const MAX_CLOCK_OFFSET_MS = 24 * 3_600_000

/** Handles one leased batch: records are built, sent, judged and settled. The scheduler (worker.ts) decides when and how many. */
export class BatchProcessor {
  readonly #options: DeliveryWorkerOptions
  readonly #leaseMs: number
  readonly #signal: AbortSignal

  constructor(options: DeliveryWorkerOptions, leaseMs: number, signal: AbortSignal) {
    this.#options = options
    this.#leaseMs = leaseMs
    this.#signal = signal
  }

  /** Rejects if the outbox fails for good; the leases then expire and the batch is sent again. */
  async process(lane: Lane, ready: ReadyDestination, leased: readonly LeasedDelivery[]): Promise<void> {
    const ids = leased.map(({ id }) => id)
    const lease = new LeaseKeeper({ ...this.#options, leaseMs: this.#leaseMs }, lane, ids)
    for (const id of ids) lane.sending.add(id)
    try {
      await this.#processLeased(lane, ready, leased, lease)
    } finally {
      for (const id of ids) lane.sending.delete(id)
      lease.end()
    }
  }

  async #processLeased(lane: Lane, ready: ReadyDestination, leased: readonly LeasedDelivery[], lease: LeaseKeeper): Promise<void> {
    const started = this.#options.clock.now()
    const { settlements, records, deliveries } = this.#build(ready, leased, started)
    const report = deliveries.length === 0 ? undefined : await this.#send(ready, records, deliveries, lease)
    const now = this.#options.clock.now()
    if (report !== undefined) {
      const eventBytes = deliveries.reduce((sum, each) => sum + each.bytes, 0)
      lane.expansion.observe(eventBytes, report.encodedBytes)
      const current = this.#isCurrent(ready)
      const at = current ? this.#retryAt(deliveries, report.verdict, now) : now
      if (current) this.#judge(lane, report, now, at)
      if (report.verdict.kind === 'unauthorized') {
        ready.refusals++
        forgetPrepared(ready)
      }
      followClock(ready, report.verdict, now)
      settlements.push(...toSettlements(deliveries, report, at, current ? ready : undefined))
    }
    const delivered = settlements.filter((each) => each.state === 'delivered').length
    const rejected = report?.rejected ?? 0
    const counts = { delivered: Math.max(0, delivered - rejected), rejected }
    // What is given back may be leased again as soon as the outbox knows. What is done with looks due until then.
    for (const { id, state } of settlements) if (state === 'retry' || state === 'released') lane.sending.delete(id)
    await settlePatiently({ ...this.#options, signal: this.#signal }, lane.id, settlements, counts)
    this.#tell(lane, ready, report, settlements, now - started)
    await this.#reportHealth(lane, now)
  }

  /** The records to send. What is too old or cannot be built is settled at once. */
  #build(
    ready: ReadyDestination,
    leased: readonly LeasedDelivery[],
    now: number,
  ): { readonly settlements: Settlement[]; readonly records: DeliveryRecord[]; readonly deliveries: LeasedDelivery[] } {
    const settlements: Settlement[] = []
    const records: DeliveryRecord[] = []
    const deliveries: LeasedDelivery[] = []
    for (const delivery of leased) {
      const age = tooOld(delivery, ready.type.limits, now)
      if (age !== undefined) {
        settlements.push({ id: delivery.id, state: 'dead', reason: 'expired', status: 0, error: `older than ${inWords(age)}` })
        continue
      }
      try {
        records.push(toDeliveryRecord(delivery.generation, delivery.content, ready.record))
        deliveries.push(delivery)
      } catch (error) {
        settlements.push({
          id: delivery.id,
          state: 'dead',
          reason: 'encode-failed',
          status: 0,
          error: error instanceof Error ? error.message : String(error),
        })
      }
    }
    return { settlements, records, deliveries }
  }

  async #send(
    ready: ReadyDestination,
    records: readonly DeliveryRecord[],
    deliveries: readonly LeasedDelivery[],
    lease: LeaseKeeper,
  ): Promise<BatchReport> {
    const { type, settings, record } = ready
    const { clock, transport } = this.#options
    const attempt = Math.max(...deliveries.map((each) => each.attempts))
    const base = destinationContext(record, this.#options, { now: clock.now() + ready.clockOffsetMs, attempt })
    const signal = AbortSignal.any([this.#signalOf(ready), lease.lost])
    let prepared: unknown
    try {
      prepared = await this.#prepare(ready, base)
    } catch (error) {
      const isAnswered = error instanceof NotNow && !signal.aborted
      if (!isAnswered) return notPrepared(records, unanswered(error, signal))
      const { response, outcome, message } = error
      return notPrepared(records, { ...withHint(outcome, response, clock.now()), message }, response.status)
    }
    const context = prepared === undefined ? base : { ...base, prepared }
    return sendBatch({
      type,
      settings,
      context,
      records,
      doubtful: Math.max(...deliveries.map(({ id }) => ready.doubtful.count(id))),
      refusals: ready.refusals,
      transport,
      signal,
      now: () => clock.now(),
      beforeRequest: () => lease.renew(),
    })
  }

  /** Ends what is being sent: the worker stops, or the destination was changed. */
  #signalOf({ superseded }: ReadyDestination): AbortSignal {
    return AbortSignal.any([this.#signal, superseded.signal])
  }

  async #prepare(ready: ReadyDestination, context: DestinationContext): Promise<unknown> {
    const { type, settings } = ready
    if (type.prepare === undefined) return undefined
    const send = createLookUp(type, settings, this.#options.transport, this.#signalOf(ready))
    return prepareOnce(ready, async () => type.prepare?.(settings, context, send))
  }

  /** An answer says nothing about a configuration that was changed since; the new one is tried at once. */
  #isCurrent({ record }: ReadyDestination): boolean {
    return this.#options.destination(record.id)?.revision === record.revision
  }

  /** One waiting time for the whole batch: with individual jitter it would come back as many small requests. */
  #retryAt(deliveries: readonly LeasedDelivery[], { afterMs }: BatchVerdict, now: number): number {
    const { random, backoff = DELIVERY_BACKOFF } = this.#options
    const tries = Math.max(...deliveries.map((each) => each.attempts))
    return retryAt(now, tries, afterMs, backoff, random)
  }

  #judge(lane: Lane, { verdict, results, rejected }: BatchReport, now: number, at: number): void {
    const { breaker } = lane
    if (verdict.kind === 'aborted') return
    lane.lastVerdict = verdict.kind
    lane.lastStatus = verdict.status
    const isOk = verdict.kind === 'ok'
    if (isOk && results.filter(({ kind }) => kind === 'delivered').length > rejected) lane.lastSuccessAt = now
    if (!isOk || verdict.message !== undefined) {
      lane.lastErrorAt = now
      lane.lastError = verdict.message
    }
    // A refusal is an answer, so the platform is reachable.
    if (isOk) return breaker.succeeded()
    if (verdict.kind === 'unauthorized') breaker.unauthorized(now)
    if (verdict.kind === 'failed') breaker.failed(now)
    // The platform is busy or named a time, so the rest of the queue waits as well.
    if (verdict.kind === 'overload' || verdict.afterMs !== undefined) breaker.hold(at)
  }

  #tell(lane: Lane, ready: ReadyDestination, report: BatchReport | undefined, settlements: readonly Settlement[], durationMs: number): void {
    const count = (state: Settlement['state']): number => settlements.filter((each) => each.state === state).length
    const verdict = report?.verdict ?? { kind: 'ok' as const, status: 0 }
    this.#options.onEvent?.({
      kind: 'batch',
      destinationId: lane.id,
      type: ready.type.type,
      counts: { delivered: count('delivered'), retry: count('retry'), dead: count('dead'), released: count('released') },
      rejected: report?.rejected ?? 0,
      status: verdict.status,
      verdict: verdict.kind,
      ...(verdict.message === undefined ? {} : { message: verdict.message }),
      durationMs,
    })
  }

  /** Reports the health of the destination to the store: at once if it changes (including the first success after a failure), otherwise now and then. */
  async #reportHealth(lane: Lane, now: number): Promise<void> {
    const state = lane.breaker.state(now)
    const until = lane.breaker.waitsUntil(now)
    // A refusal counts as an answer like an acceptance, whichever of the two came last.
    const isOver = (lane.lastSuccessAt ?? 0) > (lane.lastErrorAt ?? 0)
    const summary = `${state} ${lane.lastVerdict ?? ''} ${isOver} ${lane.lastError ?? ''}`
    if (summary === lane.lastReported && now - lane.lastReportAt < REPORT_EVERY_MS) return
    lane.lastReported = summary
    lane.lastReportAt = now
    await this.#options.outbox.report(lane.id, {
      breaker: state,
      ...(until === undefined ? {} : { until }),
      ...(lane.lastSuccessAt === undefined ? {} : { lastSuccessAt: lane.lastSuccessAt }),
      ...(lane.lastErrorAt === undefined ? {} : { lastErrorAt: lane.lastErrorAt }),
      lastStatus: lane.lastStatus,
      ...(lane.lastError === undefined ? {} : { lastError: lane.lastError }),
    })
  }
}

/** Signatures are valid for minutes around the platform's time, so the platform's clock counts, even if it is the wrong one. */
function followClock(ready: ReadyDestination, { platformTime }: BatchVerdict, now: number): void {
  if (platformTime === undefined || Math.abs(platformTime - now) > MAX_CLOCK_OFFSET_MS) return
  ready.clockOffsetMs = platformTime - now
}

/** Nothing can be sent now, or the batch is given back; the look-up is repeated with the next batch. */
function notPrepared(records: readonly DeliveryRecord[], why: Unanswered, status = 0): BatchReport {
  const { kind, message } = why
  return {
    results: records.map(() => (kind === 'retry' ? { kind, status, error: message } : { kind: 'released' })),
    verdict: kind === 'retry' ? toVerdict(why, status) : { kind, status, message },
    rejected: 0,
    encodedBytes: 0,
  }
}

/**
 * The fates of a batch as the outbox records them; what is given back waits until `at`. Without `ready`, because the configuration changed, nothing
 * is given up.
 */
function toSettlements(
  deliveries: readonly LeasedDelivery[],
  report: BatchReport,
  at: number,
  ready: Pick<ReadyDestination, 'doubtful'> | undefined,
): readonly Settlement[] {
  const busy = report.verdict.kind === 'failed' || report.verdict.kind === 'overload'
  return deliveries.map((delivery, position): Settlement => {
    const result = report.results[position] ?? { kind: 'released' }
    const { id } = delivery
    const gaveUp = ready !== undefined && givesUp(id, result, ready.doubtful)
    switch (result.kind) {
      case 'delivered':
        return { id, state: 'delivered' }
      case 'dead':
        return { id, state: 'dead', reason: result.reason, status: result.status, error: result.error }
      case 'released':
        return busy ? { id, state: 'released', at } : { id, state: 'released' }
      case 'retry': {
        const { status, error } = result
        return gaveUp ? { id, state: 'dead', reason: 'gave-up', status, error } : { id, state: 'retry', at, status, error }
      }
      default:
        return result satisfies never
    }
  })
}

/** Whether a delivery got as many doubtful answers in a row as its type allows. A delivery that was not tried keeps its count. */
function givesUp(id: string, result: RecordResult, doubtful: DoubtfulAnswers): boolean {
  if (result.kind === 'released') return false
  const { doubtful: isDoubtful = false, maxAttempts = Infinity } = result.kind === 'retry' ? result : {}
  const gaveUp = isDoubtful && doubtful.add(id) >= maxAttempts
  if (gaveUp || !isDoubtful) doubtful.forget(id)
  return gaveUp
}

/**
 * The age limit that a record has passed, if any. A platform's limit counts from the end of the call. Without one the waiting time counts, so a dead
 * letter of last month can still be replayed.
 */
function tooOld({ generation, enteredAt }: LeasedDelivery, { maxAgeMs }: DestinationLimits, now: number): number | undefined {
  const [since, limit] = maxAgeMs === undefined ? [enteredAt, DESTINATION_DEFAULTS.maxAgeMs] : [generation.endedAt, maxAgeMs]
  return now - since > limit ? limit : undefined
}

function inWords(ms: number): string {
  const [count, unit] = ms % 3_600_000 === 0 ? [ms / 3_600_000, 'hour'] : [Math.round(ms / 60_000), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

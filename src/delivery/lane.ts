import type { Destination } from '../core/destination.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import { createBreaker, type Breaker, type BreakerOptions } from './breaker.ts'
import { createExpansion, type Expansion } from './batching.ts'
import { createDoubtfulAnswers, type DoubtfulAnswers } from './doubtful-answers.ts'
import type { BatchVerdict } from './batch-report.ts'
import { readSettings } from './stored-settings.ts'

/** Everything the worker keeps for one destination. Nothing is shared, so a dead destination holds up only itself. */
export interface Lane {
  readonly id: string
  readonly breaker: Breaker
  readonly expansion: Expansion
  inFlight: number
  /** The deliveries whose outcome is not known yet. They look due if the clock was set ahead or the machine stood still for longer than a lease. */
  readonly sending: Set<string>
  /** Batches whose lease could not be renewed: they are on their way but may look due. */
  loose: number
  /** When a batch last started: the scheduler serves those first that waited longest. */
  lastStartAt: number
  lastTrimAt: number
  isTrimming: boolean
  /** Its queue could not be read, and is left alone until then. `failures`: how often in a row. */
  pausedUntil: number
  failures: number
  lastReportAt: number
  lastReported: string
  lastSuccessAt: number | undefined
  lastErrorAt: number | undefined
  lastVerdict: BatchVerdict['kind'] | undefined
  lastStatus: number
  lastError: string | undefined
  /** The parsed configuration; rebuilt when the destination's revision changes. */
  ready: ReadyDestination | undefined
  /** The revision whose configuration cannot be used, so that this is reported once and not with every look. */
  brokenRevision: number | undefined
}

export interface ReadyDestination {
  readonly record: DestinationRecord
  readonly type: Destination
  readonly settings: unknown
  /** Fires if what is on its way now goes to the wrong place or contains too much: nobody waits for the answer then. */
  readonly superseded: AbortController
  /** What `prepare` returned; see prepared.ts. */
  prepared: Promise<unknown> | undefined
  /** Counted per configuration, because answers to another one say nothing about it. */
  readonly doubtful: DoubtfulAnswers
  /** Batches that were refused with this configuration. */
  refusals: number
  /** How far the platform's clock is ahead of ours, once it has said so. */
  clockOffsetMs: number
}

export function createLane(id: string, options: BreakerOptions): Lane {
  return {
    id,
    breaker: createBreaker(options),
    expansion: createExpansion(),
    inFlight: 0,
    sending: new Set(),
    loose: 0,
    lastStartAt: 0,
    lastTrimAt: 0,
    isTrimming: false,
    pausedUntil: 0,
    failures: 0,
    lastReportAt: 0,
    lastReported: '',
    lastSuccessAt: undefined,
    lastErrorAt: undefined,
    lastVerdict: undefined,
    lastStatus: 0,
    lastError: undefined,
    ready: undefined,
    brokenRevision: undefined,
  }
}

/** Whether the destination was changed since the lane was last updated. */
export function isOutdated({ ready, brokenRevision }: Lane, { revision }: DestinationRecord): boolean {
  const known = ready?.record.revision ?? brokenRevision
  return known !== undefined && known !== revision
}

/**
 * Brings a lane up to the destination's current configuration. A change ends every pause, because its owner has done something about it. Returns once
 * why a new configuration cannot be used, as a sentence; otherwise undefined.
 */
export function refreshLane(lane: Lane, record: DestinationRecord, types: ReadonlyMap<string, Destination>): string | undefined {
  const { revision } = record
  if (lane.ready?.record.revision === revision || lane.brokenRevision === revision) return undefined
  const changed = isOutdated(lane, record)
  if (lane.ready !== undefined && isSuperseded(lane.ready.record, record)) lane.ready.superseded.abort()
  lane.ready = undefined
  lane.brokenRevision = undefined
  const read = readSettings(types.get(record.type), record)
  if ('problem' in read) {
    lane.brokenRevision = revision
    return read.problem
  }
  if (changed) lane.breaker.reset()
  lane.ready = {
    record,
    ...read,
    superseded: new AbortController(),
    prepared: undefined,
    doubtful: createDoubtfulAnswers(),
    refusals: 0,
    clockOffsetMs: 0,
  }
  return undefined
}

/** Other changes do not affect what is being sent. */
const isSuperseded = (before: DestinationRecord, after: DestinationRecord): boolean =>
  (after.privacyMode && !before.privacyMode) || JSON.stringify(before.config) !== JSON.stringify(after.config)

/**
 * Starts nothing new. What is on its way to a destination that was switched off, or whose configuration was replaced, is given back; a paused one may
 * finish. What is sent later is independent of this, even with the same configuration.
 */
export function restLane(lane: Lane, record: DestinationRecord): void {
  const { ready, inFlight } = lane
  if (ready === undefined || inFlight === 0 || (record.enabled && !isSuperseded(ready.record, record))) return
  ready.superseded.abort()
  lane.ready = { ...ready, superseded: new AbortController(), prepared: undefined }
}

/** The destination was deleted: what is on its way to it is given up. */
export function closeLane(lane: Lane): void {
  lane.ready?.superseded.abort()
  lane.ready = undefined
}

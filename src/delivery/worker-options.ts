import type { Destination } from '../core/destination.ts'
import type { DestinationRecord, GivenUp, Outbox } from '../core/outbox.ts'
import type { BackoffOptions } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import type { BreakerOptions } from './breaker.ts'
import type { BatchReport, RecordResult } from './batch-report.ts'
import type { Transport } from './transport.ts'

/** What the worker reports, for metrics and logs. Messages contain no secrets. */
export type DeliveryEvent =
  | {
      readonly kind: 'batch'
      readonly destinationId: string
      readonly type: string
      readonly counts: { readonly [result in RecordResult['kind']]: number }
      readonly rejected: number
      readonly status: number
      readonly verdict: BatchReport['verdict']['kind']
      readonly message?: string
      readonly durationMs: number
    }
  /** The queue was full: so many deliveries lost their content, and so many were dropped. */
  | ({ readonly kind: 'trimmed'; readonly bodies: number } & GivenUp)
  /** Waited for longer than any type allows, without anybody who sends. */
  | ({ readonly kind: 'expired' } & GivenUp)
  | { readonly kind: 'problem'; readonly destinationId?: string; readonly message: string }

export interface DeliveryWorkerOptions {
  readonly outbox: Outbox
  readonly types: ReadonlyMap<string, Destination>
  /** The current configuration with its secrets; undefined if it was deleted. */
  readonly destination: (id: string) => DestinationRecord | undefined
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  /** The name of this worker in leases; unique among all processes. */
  readonly owner: string
  readonly service: { readonly name: string; readonly version: string }
  /** The operator's base URLs, by type. */
  readonly baseUrls?: { readonly [type: string]: string | null | undefined }
  /** Where types that write files may write. */
  readonly directory?: string
  readonly onEvent?: (event: DeliveryEvent) => void
  /** True while something is more urgent than sending: nothing new is started meanwhile. Default: never. */
  readonly putOff?: () => boolean
  readonly backoff?: BackoffOptions
  readonly breaker?: BreakerOptions
  readonly tuning?: Partial<Tuning>
}

export interface Tuning {
  /** Concurrent batches, over all destinations. */
  readonly concurrency: number
  /** Event bytes in memory at a time. */
  readonly memoryBytes: number
  readonly leaseMs: number
  /** How soon to look at the queue again after sending was put off. */
  readonly putOffMs: number
  /** How often to look at the queue if nothing wakes the worker, because other processes add to it too. */
  readonly pollMs: number
  /** Bounds of one destination's queue. */
  readonly queueRecords: number
  readonly queueBytes: number
  readonly trimEveryMs: number
}

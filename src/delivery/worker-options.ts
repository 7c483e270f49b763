import type { Destination } from '../core/destination.ts'
import type { DestinationRecord, GivenUp, Outbox } from '../core/outbox.ts'
import type { BackoffOptions } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import type { BreakerOptions } from './breaker.ts'
import type { BatchReport, RecordResult } from './batch-report.ts'
import type { Transport } from './transport.ts'

/** What the worker tells the outside: metrics and logs are made of it. Messages hold no secrets. */
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
  /** The queue was full: dropped were what was said in so many, and so many as a whole. */
  | ({ readonly kind: 'trimmed'; readonly bodies: number } & GivenUp)
  /** Waited for longer than any type takes, with nobody who sends. */
  | ({ readonly kind: 'expired' } & GivenUp)
  | { readonly kind: 'problem'; readonly destinationId?: string; readonly message: string }

export interface DeliveryWorkerOptions {
  readonly outbox: Outbox
  readonly types: ReadonlyMap<string, Destination>
  /** The current configuration, secrets in the clear; undefined when it is gone. */
  readonly destination: (id: string) => DestinationRecord | undefined
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  /** Names this worker's leases; unique among all processes. */
  readonly owner: string
  readonly service: { readonly name: string; readonly version: string }
  /** The operator's base URLs, by type. */
  readonly baseUrls?: { readonly [type: string]: string | null | undefined }
  /** Where types that write files may write. */
  readonly directory?: string
  readonly onEvent?: (event: DeliveryEvent) => void
  /** True while there is something more urgent than sending: nothing new is started meanwhile. Default: never. */
  readonly putOff?: () => boolean
  readonly backoff?: BackoffOptions
  readonly breaker?: BreakerOptions
  readonly tuning?: Partial<Tuning>
}

export interface Tuning {
  /** Batches on their way at a time, over all destinations. */
  readonly concurrency: number
  /** Event bytes in memory at a time. */
  readonly memoryBytes: number
  readonly leaseMs: number
  /** How soon the queue is looked at again when sending was put off. */
  readonly putOffMs: number
  /** How often the queue is looked at when nothing wakes the worker: other processes add to it too. */
  readonly pollMs: number
  /** Bounds of one destination's queue. */
  readonly queueRecords: number
  readonly queueBytes: number
  readonly trimEveryMs: number
}

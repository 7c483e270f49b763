import type { DeadReason } from '../core/outbox.ts'
import type { Unreached } from './exchange.ts'

/** What became of one record. */
export type RecordResult =
  | { readonly kind: 'delivered' }
  /** `doubtful`: another try is unlikely to be answered differently. `maxAttempts`: it is given up after this many such answers. */
  | { readonly kind: 'retry'; readonly status: number; readonly error: string; readonly doubtful?: boolean; readonly maxAttempts?: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly status: number; readonly error: string }

/** What the batch says about its destination. */
export interface BatchVerdict {
  readonly kind: 'ok' | 'failed' | 'overload' | 'unauthorized' | 'aborted'
  readonly status: number
  readonly message?: string
  /** The platform's own hint when to come back. */
  readonly afterMs?: number
  /** The platform's clock, if it refused because ours is wrong. */
  readonly platformTime?: number
}

/** The verdict for a destination that takes nothing at the moment. */
export function toVerdict({ message, afterMs, platformTime, overload }: Unreached, status: number): BatchVerdict {
  return {
    kind: overload ? 'overload' : 'failed',
    status,
    message,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(platformTime === undefined ? {} : { platformTime }),
  }
}

export interface BatchReport {
  /** By position in the batch. */
  readonly results: readonly RecordResult[]
  readonly verdict: BatchVerdict
  /** Refused within accepted requests that did not say which. */
  readonly rejected: number
  /** Size of the first encoding of the whole batch. */
  readonly encodedBytes: number
}

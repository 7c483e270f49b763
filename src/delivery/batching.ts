import { DESTINATION_DEFAULTS, type DestinationLimits } from '../core/destination.ts'
import type { DueWork } from '../core/outbox.ts'

/**
 * When a batch is sent: it is full by count or by bytes, its oldest record has waited long enough, or it is a retry (which has waited already). 0
 * means now; otherwise the time at which it is sent even if nothing is added.
 */
export function batchDueAt(work: DueWork, limits: DestinationLimits): number {
  if (work.retried || work.records >= limits.records || work.bytes >= limits.bytes) return 0
  return work.oldestAt + (limits.lingerMs ?? DESTINATION_DEFAULTS.lingerMs)
}

/**
 * Bytes of stored events to lease for one request of `limit` bytes. Encoders repeat content in several attributes or drop it, so the ratio of the
 * last batches is learnt; without it every batch of long conversations would be encoded twice.
 */
export interface Expansion {
  leaseBytes(limit: number): number
  /** What a batch of events was encoded to. */
  observe(eventBytes: number, encodedBytes: number): void
}

const SMOOTHING = 0.3

export function createExpansion(): Expansion {
  let ratio = 1
  return {
    leaseBytes: (limit) => Math.max(1, Math.floor(limit / ratio)),
    observe(eventBytes, encodedBytes) {
      if (eventBytes <= 0 || encodedBytes <= 0) return
      ratio += SMOOTHING * (Math.max(encodedBytes / eventBytes, 0.1) - ratio)
    },
  }
}

/** Groups requests: those that share a record stay together and in order; groups may run concurrently. */
export function independentGroups<T extends { readonly records?: readonly number[] }>(requests: readonly T[]): readonly (readonly T[])[] {
  const groups: { readonly records: Set<number>; readonly requests: T[] }[] = []
  for (const request of requests) {
    if (request.records === undefined) return [requests]
    const touching = groups.filter((group) => request.records?.some((index) => group.records.has(index)))
    const [first] = touching
    if (first === undefined) {
      groups.push({ records: new Set(request.records), requests: [request] })
      continue
    }
    for (const index of request.records) first.records.add(index)
    first.requests.push(request)
    for (const other of touching.slice(1)) {
      for (const index of other.records) first.records.add(index)
      first.requests.push(...other.requests)
      groups.splice(groups.indexOf(other), 1)
    }
  }
  return groups.map((group) => requests.filter((request) => group.requests.includes(request)))
}

import type { Generation } from '../core/generation.ts'
import type { Packing, RecordedGeneration } from '../core/store.ts'
import { LiveMap } from '../lib/live-map.ts'
import { estimateRecordBytes } from './estimate-bytes.ts'

/** For stores that take records as they are. */
export const UNPACKED: Packing<RecordedGeneration> = {
  pack: (record) => record,
  bytes: estimateRecordBytes,
  unpack: ({ generation }) => generation,
  withoutContent: ({ generation, content }) => (content === undefined ? undefined : { generation }),
}

/** A record on its way; `settled` once it is written or lost. */
export interface QueuedGeneration<P> {
  readonly id: string
  packed: P
  bytes: number
  /** When it was recorded. */
  readonly at: number
  settled: boolean
}

export interface QueueBounds {
  readonly records: number
  readonly bytes: number
}

/** All records that are not settled: those that wait, in order, and those a writer has taken. Bounded by count and estimated bytes. */
export interface GenerationQueue<P> {
  readonly waiting: number
  /** Waiting and taken. */
  readonly unsettled: number
  readonly bytes: number
  /** The oldest waiting record. */
  readonly oldest: QueuedGeneration<P> | undefined
  push(record: RecordedGeneration, now: number): void
  /** Takes from the front until a bound is reached, but at least one if any waits. */
  take(bounds: QueueBounds): readonly QueuedGeneration<P>[]
  /** Removes the content of the oldest waiting records until the rest fits, or no content is left. Returns from how many. */
  stripExcess(bounds: QueueBounds): number
  /** Takes the oldest waiting records until the rest fits. Records that a writer has taken cannot be removed, but count. */
  takeExcess(bounds: QueueBounds): readonly QueuedGeneration<P>[]
  settle(entries: readonly QueuedGeneration<P>[]): void
  /** All unsettled records, taken or not; empties the queue. */
  drain(): readonly QueuedGeneration<P>[]
  find(id: string): Generation | undefined
}

/** Taken places at the front are cleared and released in blocks: shifting a long array for each record would be quadratic. */
const COMPACT_AT = 1024

export function createGenerationQueue<P>(packing: Packing<P>): GenerationQueue<P> {
  const unsettled = new LiveMap<string, QueuedGeneration<P>>()
  let entries: (QueuedGeneration<P> | undefined)[] = []
  let head = 0
  /** Entries before this place have no content left to remove. */
  let stripped = 0
  let bytes = 0

  const advance = (to: number): readonly QueuedGeneration<P>[] => {
    const taken = entries.slice(head, to) as QueuedGeneration<P>[]
    entries.fill(undefined, head, to)
    head = to
    stripped = Math.max(stripped, head)
    if (head >= COMPACT_AT || head === entries.length) {
      entries = entries.slice(head)
      stripped -= head
      head = 0
    }
    return taken
  }
  const strip = (entry: QueuedGeneration<P>): boolean => {
    const packed = packing.withoutContent(entry.packed)
    if (packed === undefined) return false
    bytes -= entry.bytes
    entry.packed = packed
    entry.bytes = packing.bytes(packed)
    bytes += entry.bytes
    return true
  }

  return {
    get waiting() {
      return entries.length - head
    },
    get unsettled() {
      return unsettled.size
    },
    get bytes() {
      return bytes
    },
    get oldest() {
      return entries[head]
    },
    push: (record, now) => {
      const packed = packing.pack(record)
      const entry: QueuedGeneration<P> = { id: record.generation.id, packed, bytes: packing.bytes(packed), at: now, settled: false }
      entries.push(entry)
      unsettled.set(entry.id, entry)
      bytes += entry.bytes
    },
    take: (bounds) => {
      let end = head
      for (let size = 0; end < entries.length && end - head < bounds.records && size < bounds.bytes; end++) size += entries[end]!.bytes
      return advance(end)
    },
    stripExcess: (bounds) => {
      let count = 0
      for (; bytes > bounds.bytes && stripped < entries.length; stripped++) if (strip(entries[stripped]!)) count++
      return count
    },
    takeExcess: (bounds) => {
      let end = head
      for (let freed = 0; end < entries.length && (unsettled.size - (end - head) > bounds.records || bytes - freed > bounds.bytes); end++) {
        freed += entries[end]!.bytes
      }
      return end === head ? [] : advance(end)
    },
    settle: (settled) => {
      for (const entry of settled) {
        if (entry.settled) continue
        entry.settled = true
        bytes -= entry.bytes
        if (unsettled.get(entry.id) === entry) unsettled.delete(entry.id)
      }
    },
    drain: () => {
      const left = [...unsettled.values()]
      advance(entries.length)
      return left
    },
    find: (id) => {
      const entry = unsettled.get(id)
      return entry && packing.unpack(entry.packed)
    },
  }
}

import type { Generation } from '../core/generation.ts'
import type { OutboxEntry } from '../core/outbox.ts'
import { LiveMap } from '../lib/live-map.ts'

/** A second of a busy gateway fits. */
const MAX_BYTES = 8_000_000
/** Larger ones may differ from what the database keeps of them, and would take the room of many. */
const MAX_ENTRY_BYTES = 200_000
/** Taken by another process by then, or waiting for a destination that is down. */
const MAX_AGE_MS = 10_000

export interface RecentEntry {
  readonly generation: Generation
  /** A `GenerationContent` as JSON. */
  readonly content: string | undefined
}

interface Kept extends RecentEntry {
  readonly bytes: number
  readonly at: number
  /** Deliveries that were entered and not leased yet. */
  waiting: number
}

/**
 * Entries of this process that wait for their first lease, so that it need not read, decrypt and parse what was at hand a moment ago. Bounded in
 * bytes and age. While it is full new ones are not taken in: the queue is served oldest first, so they would be the last to be asked for.
 * Which deliveries exist, and whether they may see content, the database says.
 */
export class RecentEntries {
  readonly #entries = new LiveMap<string, Kept>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Call it once the entry is in the database. */
  add({ generation, content, bytes, deliveries }: OutboxEntry, now: number): void {
    for (const { generation: old, at } of this.#entries.values()) {
      if (now - at <= MAX_AGE_MS) break
      this.#forget(old.id)
    }
    this.#forget(generation.id)
    if (deliveries.length === 0 || bytes > MAX_ENTRY_BYTES || this.#bytes + bytes > this.#maxBytes) return
    this.#entries.set(generation.id, { generation, content, bytes, at: now, waiting: deliveries.length })
    this.#bytes += bytes
  }

  /** Once for each delivery: with the last one the entry is gone from here. */
  take(generationId: string): RecentEntry | undefined {
    const entry = this.#entries.get(generationId)
    if (entry !== undefined && --entry.waiting === 0) this.#forget(generationId)
    return entry
  }

  get bytes(): number {
    return this.#bytes
  }

  #forget(id: string): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0
    this.#entries.delete(id)
  }
}

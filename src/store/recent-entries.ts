import type { Generation } from '../core/generation.ts'
import type { OutboxEntry } from '../core/outbox.ts'
import { LiveMap } from '../lib/live-map.ts'

/** A second of a busy gateway fits. */
const MAX_BYTES = 8_000_000
/** Larger entries may differ from what the database stores, and would take the place of many. */
const MAX_ENTRY_BYTES = 200_000
/** Older ones were leased by another process, or wait for a destination that is down. */
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
 * Entries of this process that wait for their first lease, which then need not be read, decrypted and parsed again. Bounded in bytes and age. While
 * it is full, new entries are not added: the queue is served oldest first, so they would be needed last. Which deliveries exist, and whether they may
 * see content, is read from the database.
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

  /** Once for each delivery; the last one removes the entry. */
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

import type { Clock } from '../lib/clock.ts'

/** Between two looks, milliseconds. */
export const LOOK_MS = 2_000
/** No turn of an event loop takes as long as this: whoever has not answered by then is stopped, or stuck for good. */
const SILENT_MS = 30_000
/** Looks that come later than this say that this process was stopped itself, and the others most likely with it. */
const LATE_LOOK_MS = 3 * LOOK_MS

export interface Watched {
  readonly id: number
  /** Asks it for a sign of life. */
  ask(): void
}

/**
 * Notices processes that live and do nothing any more: connections that are handed to them are served by nobody, and their end, which would have
 * them replaced, never comes.
 */
export class WorkerWatch {
  readonly #clock: Clock
  /** Since when each has owed an answer. */
  readonly #asked = new Map<number, number>()
  #lookedAt: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lookedAt = clock.monotonic()
  }

  /** It has said something. */
  heard(id: number): void {
    this.#asked.delete(id)
  }

  /** Asks those who owe nothing; returns those who have owed an answer for too long, once. */
  look(workers: readonly Watched[]): readonly number[] {
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt > LATE_LOOK_MS) for (const id of this.#asked.keys()) this.#asked.set(id, now)
    this.#lookedAt = now
    const present = new Set(workers.map(({ id }) => id))
    for (const id of this.#asked.keys()) if (!present.has(id)) this.#asked.delete(id)
    return workers.flatMap((worker) => {
      const since = this.#asked.get(worker.id)
      if (since === undefined) {
        this.#asked.set(worker.id, now)
        worker.ask()
        return []
      }
      if (now - since < SILENT_MS) return []
      this.#asked.set(worker.id, Infinity)
      return [worker.id]
    })
  }
}

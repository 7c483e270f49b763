import type { Clock } from '../lib/clock.ts'

/** Milliseconds between two looks. */
export const LOOK_MS = 2_000
/** No turn of the event loop takes this long: a worker that has not answered by then is stopped or stuck for good. */
const SILENT_MS = 30_000
/** A look this late says that the supervisor itself was stopped, and most likely the workers with it, so silence proves nothing. */
const LATE_LOOK_MS = 3 * LOOK_MS

export interface Watched {
  readonly id: number
  /** Asks the worker for a sign of life. */
  ask(): void
}

/** Notices workers that are alive but stuck. Connections handed to them are served by nobody, and as they never exit they would not be replaced. */
export class WorkerWatch {
  readonly #clock: Clock
  /** When each worker that owes an answer was asked. */
  readonly #askedAt = new Map<number, number>()
  #lookedAt: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lookedAt = clock.monotonic()
  }

  /** The worker has sent something. */
  heard(id: number): void {
    this.#askedAt.delete(id)
  }

  /** Asks those that owe nothing; returns, once each, those that have owed an answer for too long. */
  look(workers: readonly Watched[]): readonly number[] {
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt > LATE_LOOK_MS) for (const id of this.#askedAt.keys()) this.#askedAt.set(id, now)
    this.#lookedAt = now
    const present = new Set(workers.map(({ id }) => id))
    for (const id of this.#askedAt.keys()) if (!present.has(id)) this.#askedAt.delete(id)
    return workers.flatMap((worker) => {
      const since = this.#askedAt.get(worker.id)
      if (since === undefined) {
        this.#askedAt.set(worker.id, now)
        worker.ask()
        return []
      }
      if (now - since < SILENT_MS) return []
      this.#askedAt.set(worker.id, Infinity)
      return [worker.id]
    })
  }
}

import type { WriteBehindSink } from '../store/index.ts'

/** How long a question waits for the records of calls that ended before it. */
const LIMIT_MS = 3_000

/**
 * What brings figures of the database up to the question: what is on its way into it is waited for, as long as that helps. Where records have
 * waited for longer already, the database takes none (a full disk, a standby, a lock), and the figures are those it has.
 */
export function createSettled(sink: Pick<WriteBehindSink, 'flush' | 'stats'>, limitMs = LIMIT_MS): () => Promise<void> {
  return async () => {
    if (sink.stats().oldestAgeMs > limitMs) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, limitMs)
    sink.flush().then(resolve, () => resolve())
    await promise
    clearTimeout(timer)
  }
}

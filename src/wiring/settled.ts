import type { WriteBehindSink } from '../store/index.ts'

/** How long a question about figures waits for the records of calls that ended before it. */
const LIMIT_MS = 3_000

/**
 * Brings the figures of the database up to date with the calls that ended before the question, by waiting for their records while that can help. If
 * records have waited longer already, the database takes none (a full disk, a standby, a lock), and its figures are used as they are.
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

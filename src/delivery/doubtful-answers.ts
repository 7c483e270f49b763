/** Deliveries remembered at a time. Forgotten ones are tried more often, until they expire. */
const MAX_REMEMBERED = 20_000

/**
 * Counts for each delivery how often in a row it got an answer that another try is unlikely to change. Other failures (no answer, busy) are no such
 * answers and reset the count. In memory only: after a restart a few more tries are made.
 */
export interface DoubtfulAnswers {
  /** Adds one for this delivery; returns its count. */
  add(id: string): number
  /** The count so far. */
  count(id: string): number
  forget(id: string): void
}

export function createDoubtfulAnswers(max = MAX_REMEMBERED): DoubtfulAnswers {
  const counts = new Map<string, number>()
  return {
    add(id) {
      const count = (counts.get(id) ?? 0) + 1
      // Inserted anew, so that the map begins with the longest-ago answer.
      counts.delete(id)
      counts.set(id, count)
      if (counts.size > max) counts.delete(counts.keys().next().value!)
      return count
    },
    count: (id) => counts.get(id) ?? 0,
    forget(id) {
      counts.delete(id)
    },
  }
}

/** Deliveries remembered at a time. What is forgotten is tried more often, and at last expires. */
const MAX_REMEMBERED = 20_000

/**
 * How often in a row each delivery was answered in a way another try is unlikely to change. Tries that failed otherwise (nobody answered,
 * busy) are no such answers and begin the count anew. In memory only: after a restart a few more tries are made.
 */
export interface DoubtfulAnswers {
  /** One more for this delivery; returns how many it makes. */
  add(id: string): number
  /** How many there were so far. */
  count(id: string): number
  forget(id: string): void
}

export function createDoubtfulAnswers(max = MAX_REMEMBERED): DoubtfulAnswers {
  const counts = new Map<string, number>()
  return {
    add(id) {
      const count = (counts.get(id) ?? 0) + 1
      // Entered anew, so that the map begins with what was answered longest ago.
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

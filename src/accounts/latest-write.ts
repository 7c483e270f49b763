export interface LatestWrite<T> {
  /** Writes it unless a newer one comes before its turn. */
  put(value: T): void
  /** Resolves when nothing is being written and nothing waits. */
  settled(): Promise<void>
}

/**
 * Writes a state each time it changes, one write at a time. Of states that come while one is being written only the newest is kept: whoever
 * makes a thousand keys in a row makes as many states of all keys.
 */
export function createLatestWrite<T>(write: (value: T) => Promise<void>, onFailure: (error: unknown) => void = () => undefined): LatestWrite<T> {
  let waiting: { readonly value: T } | undefined
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (waiting !== undefined) {
      const { value } = waiting
      waiting = undefined
      await write(value).catch(onFailure)
    }
    writing = undefined
  }

  return {
    put(value) {
      waiting = { value }
      writing ??= writeAll()
    },
    settled: async () => writing,
  }
}

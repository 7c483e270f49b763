export interface LatestWrite<T> {
  /** Writes the value, unless a newer one arrives before its turn. */
  put(value: T): void
  /** Resolves when no write is running or waiting. */
  settled(): Promise<void>
}

/**
 * Writes a state each time it changes, one write at a time. Only the newest of the states that arrive during a write is kept: creating a thousand
 * keys in a row produces a thousand states of all keys.
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

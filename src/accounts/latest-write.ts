export interface LatestWrite<T> {
  /** Writes the value, unless a newer one arrives before its turn. */
  put(value: T): void
  /** Resolves when no write is running or waiting. One that failed is tried once more now. */
  settled(): Promise<void>
}

/** Milliseconds after which a write that failed is tried again. */
const RETRY_MS = 5_000

/**
 * Writes a state each time it changes, one write at a time. Only the newest of the states that arrive during a write is kept: creating a thousand
 * keys in a row produces a thousand states of all keys.
 *
 * A write that fails is repeated until it succeeds or a newer state arrives: the disk may be full only for a while, and the next change, without which
 * nobody would write again, may be weeks away. `onFailure` is called for the first of several failures in a row.
 */
export function createLatestWrite<T>(
  write: (value: T) => Promise<void>,
  onFailure: (error: unknown) => void = () => undefined,
  retryMs = RETRY_MS,
): LatestWrite<T> {
  let waiting: { readonly value: T } | undefined
  let failed: { readonly value: T } | undefined
  let writing: Promise<void> | undefined
  let retry: NodeJS.Timeout | undefined

  async function writeAll(): Promise<void> {
    while (waiting !== undefined) {
      const current = waiting
      waiting = undefined
      try {
        await write(current.value)
        failed = undefined
      } catch (error) {
        if (failed === undefined) onFailure(error)
        failed = current
      }
    }
    writing = undefined
    if (failed !== undefined) retry = setTimeout(begin, retryMs, failed).unref()
  }

  function begin(next: { readonly value: T }): void {
    clearTimeout(retry)
    waiting = next
    writing ??= writeAll()
  }

  return {
    put: (value) => begin({ value }),
    settled: async () => {
      if (writing === undefined && failed !== undefined) begin(failed)
      await writing
      clearTimeout(retry)
    },
  }
}

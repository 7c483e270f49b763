export interface LatestWrite<T> {
  /** Writes the value, unless a newer one arrives before its turn. */
  put(value: T): void
  /** Resolves when no write is running or waiting. One that failed is tried once more now. */
  settled(): Promise<void>
}

/** Milliseconds after which a write that failed is tried again. */
const RETRY_MS = 5_000
/** How many times as long as a write took the next one waits: writing what a large installation knows takes a second, and keys change all the time. */
const REST = 9
/** Faster writes need no rest. */
const SLOW_MS = 100

/**
 * Writes a state each time it changes, one write at a time. Only the newest of the states that arrive during a write is kept: creating a thousand
 * keys in a row produces a thousand states of all keys.
 *
 * After a slow write it rests for a multiple of the time that it took, unless somebody waits for the end.
 *
 * A write that fails is repeated until it succeeds or a newer state arrives: the disk may be full only for a while, and the next change, without which
 * nobody would write again, may be weeks away. `onFailure` is called for the first of several failures in a row.
 */
export function createLatestWrite<T>(
  write: (value: T) => Promise<void>,
  onFailure: (error: unknown) => void = () => undefined,
  { retryMs = RETRY_MS, now = () => performance.now() }: { readonly retryMs?: number; readonly now?: () => number } = {},
): LatestWrite<T> {
  let waiting: { readonly value: T } | undefined
  let failed: { readonly value: T } | undefined
  let writing: Promise<void> | undefined
  let retry: NodeJS.Timeout | undefined
  let endRest: () => void = () => undefined
  let awaited = 0

  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      endRest = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function writeAll(): Promise<void> {
    while (waiting !== undefined) {
      const current = waiting
      waiting = undefined
      const beganAt = now()
      try {
        await write(current.value)
        failed = undefined
      } catch (error) {
        if (failed === undefined) onFailure(error)
        failed = current
      }
      const tookMs = now() - beganAt
      if (failed === undefined && awaited === 0 && tookMs > SLOW_MS) await rest(tookMs * REST)
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
      awaited++
      endRest()
      await writing
      awaited--
      clearTimeout(retry)
    },
  }
}

import type { KeyUse, KeyUseStore } from '../core/key-use.ts'

export interface KeyUsesOptions {
  readonly store: KeyUseStore
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called when uses cannot be written, once until they can be again. They are kept and written later. */
  readonly onFailure?: (error: unknown) => void
  /** Between two writes. Default: a minute. */
  readonly everyMs?: number
}

/** When keys were last used: remembered in memory, and written by every process now and then. */
export interface KeyUses {
  /** On the hot path. Nothing is written now. */
  note(this: void, use: KeyUse): void
  /** What the store knows, and what this process has not written yet. */
  of(keyHashes: readonly string[]): Promise<readonly KeyUse[]>
  /** Writes what is new. Rejects if the store does not take it; it is kept. */
  flush(): Promise<void>
  /** Writes what is left, and gives up after some seconds. */
  close(): Promise<void>
}

const EVERY_MS = 60_000
const CLOSE_LIMIT_MS = 2_000
const MINUTE_MS = 60_000

/** The minute that contains a time, as its first millisecond. */
export const minuteOf = (at: number): number => at - (at % MINUTE_MS)

export function createKeyUses({ store, now, onFailure = () => undefined, everyMs = EVERY_MS }: KeyUsesOptions): KeyUses {
  /** By secret: at most as many as there are keys. */
  let waiting = new Map<string, KeyUse>()
  let writing: readonly KeyUse[] = []
  let running: Promise<void> | undefined
  let isFailing = false

  async function write(): Promise<void> {
    const batch = waiting
    writing = [...batch.values()]
    waiting = new Map()
    try {
      await store.note(writing, now())
      isFailing = false
    } catch (error) {
      // What was used again meanwhile is newer.
      waiting = new Map([...batch, ...waiting])
      if (!isFailing) onFailure(error)
      isFailing = true
      throw error
    } finally {
      writing = []
    }
  }

  const flush = async (): Promise<void> => {
    if (running !== undefined) await running.catch(() => undefined)
    if (waiting.size === 0) return
    running ??= write().finally(() => (running = undefined))
    await running
  }

  const timer = setInterval(() => void flush().catch(() => undefined), everyMs)
  timer.unref()

  return {
    note: (use) => void waiting.set(use.secretHash, use),
    of: async (keyHashes) => {
      const wanted = new Set(keyHashes)
      // Collected first: what is written during the read may be missing in its result.
      const own = [...writing, ...waiting.values()].filter(({ keyHash }) => wanted.has(keyHash))
      return latest([...(await store.of(keyHashes)), ...own])
    },
    flush,
    close: async () => {
      clearInterval(timer)
      let limit: NodeJS.Timeout | undefined
      const tooLong = new Promise<void>((resolve) => (limit = setTimeout(resolve, CLOSE_LIMIT_MS)))
      await Promise.race([flush().catch(() => undefined), tooLong])
      clearTimeout(limit)
    },
  }
}

/** One use per secret. */
function latest(uses: readonly KeyUse[]): readonly KeyUse[] {
  const bySecret = new Map<string, KeyUse>()
  for (const use of uses) if (use.at > (bySecret.get(use.secretHash)?.at ?? -Infinity)) bySecret.set(use.secretHash, use)
  return [...bySecret.values()]
}

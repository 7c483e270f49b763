import type { Clock } from '../lib/clock.ts'
import { createFollower } from './follower.ts'
import type { LastKnownGood } from './known-file.ts'
import { createLatestWrite } from './latest-write.ts'

const POLL_MS = 2_000
const FAILED_POLL_MS = 1_000
/** Times a copy is read once more, while changes are made. */
const READ_AGAIN = 2

export interface RememberedCopyOptions<Known> {
  /** Increases with every change of the original. */
  readonly version: () => Promise<number>
  readonly load: () => Promise<Known>
  /** Puts the content in force. What takes long comes first, with turns of the event loop in between; what it resolves with then puts it in force. */
  readonly install: (known: Known) => Promise<() => void> | undefined
  /** For a start without the database. */
  readonly lastKnownGood: LastKnownGood<Known> | undefined
  /** Equal for equal content: a copy that is on disk already is not written again. By default every copy is written. */
  readonly fingerprint?: (known: Known) => string
  readonly clock: Clock
  /** Default: two seconds. */
  readonly pollMs: number | undefined
}

export interface CopyStart {
  /** Set if the database did not answer a moment ago: the last known content is put in force without waiting for it again. */
  readonly databaseIsAway?: boolean
}

/** A copy of database content in memory, which follows the database and stays in force when it is unavailable. */
export interface RememberedCopy {
  /** Reads the database and then follows it. If it cannot be read, puts the last known content in force, rejects, and continues to follow it. */
  start(start?: CopyStart): Promise<void>
  refresh(): Promise<void>
  /** False before the first read of the database: something that is not in the copy may exist. */
  readonly current: boolean
  close(): Promise<void>
}

export function createRememberedCopy<Known>(options: RememberedCopyOptions<Known>): RememberedCopy {
  const { load, install, lastKnownGood, clock, pollMs = POLL_MS } = options
  let version: number | undefined
  let saved: string | undefined
  const saving =
    lastKnownGood &&
    createLatestWrite<Known>(
      (known) => lastKnownGood.write(known),
      () => (saved = undefined),
    )

  /**
   * What is read in steps may hold the later of two changes without the earlier one: neither a key that is replaced nor the one in its place. So it is
   * read again if anything was changed meanwhile; not without end, because somebody may make changes all the time.
   */
  async function readWhole(current: number): Promise<{ readonly known: Known; readonly upTo: number }> {
    let upTo = current
    for (let again = 0; ; again++) {
      const known = await load()
      const now = await options.version()
      if (now === upTo || again === READ_AGAIN) return { known, upTo }
      upTo = now
    }
  }

  const follower = createFollower({
    synchronize: async (anew) => {
      const current = await options.version()
      if (current === version && !anew) return
      const { known, upTo } = await readWhole(current)
      const putInForce = await install(known)
      putInForce?.()
      version = upTo
      // A copy that cannot be written now is written later; the snapshot of API keys logs the failure.
      if (saving === undefined) return
      const fingerprint = options.fingerprint?.(known)
      if (fingerprint !== undefined && fingerprint === saved) return
      saved = fingerprint
      saving.put(known)
    },
    clock,
    pollMs,
    failedPollMs: FAILED_POLL_MS,
    // The snapshot of API keys reads the same database and reports its loss.
    onLost: () => undefined,
    onBack: () => undefined,
  })
  const restore = async (): Promise<void> => {
    const known = await lastKnownGood?.read()
    // The database may have been reached meanwhile and is more current.
    if (known === undefined || version !== undefined) return
    const putInForce = await install(known)
    if (version === undefined) putInForce?.()
  }
  return {
    start: async ({ databaseIsAway = false } = {}) => {
      const started = follower.start()
      if (databaseIsAway) {
        started.catch(() => undefined)
        return restore()
      }
      try {
        await started
      } catch (error) {
        await restore()
        throw error
      }
    },
    refresh: () => follower.refresh(),
    get current() {
      return version !== undefined
    },
    close: async () => {
      await follower.close()
      await saving?.settled()
    },
  }
}

/** How many milliseconds a caller should wait before it asks again for something that is not known yet. */
export const UNKNOWN_RETRY_MS = POLL_MS

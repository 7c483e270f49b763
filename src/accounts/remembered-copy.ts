import type { Clock } from '../lib/clock.ts'
import { createFollower } from './follower.ts'
import type { LastKnownGood } from './last-known-good.ts'
import { createLatestWrite } from './latest-write.ts'

const POLL_MS = 2_000
const FAILED_POLL_MS = 1_000

export interface RememberedCopyOptions<Known> {
  /** Grows with every change of what is copied. */
  readonly version: () => Promise<number>
  readonly load: () => Promise<Known>
  /** Puts it in force. */
  readonly install: (known: Known) => void
  /** For a start without the database. */
  readonly lastKnownGood: LastKnownGood<Known> | undefined
  /** Equal for copies with the same content, which then are not written again. Default: every copy is written. */
  readonly fingerprint?: (known: Known) => string
  readonly clock: Clock
  /** Default: two seconds. */
  readonly pollMs: number | undefined
}

export interface CopyStart {
  /** It was asked in vain a moment ago: what was last known is put in force without waiting for it again. */
  readonly databaseIsAway?: boolean
}

/** A copy, in memory, of what the database has: it follows the database and outlives it. */
export interface RememberedCopy {
  /** Reads the database and from then on follows it. Rejects when it cannot be read, puts in force what was last known, and follows it all the same. */
  start(start?: CopyStart): Promise<void>
  refresh(): Promise<void>
  /** False before the database was ever read: what is not in the copy may exist. */
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

  const follower = createFollower({
    synchronize: async (anew) => {
      const current = await options.version()
      if (current === version && !anew) return
      const known = await load()
      install(known)
      version = current
      // If writing fails it is repeated after the next change; the snapshot of API keys logs the failure.
      if (saving === undefined) return
      const fingerprint = options.fingerprint?.(known)
      if (fingerprint !== undefined && fingerprint === saved) return
      saved = fingerprint
      saving.put(known)
    },
    clock,
    pollMs,
    failedPollMs: FAILED_POLL_MS,
    // The snapshot of API keys reads the same database and says so already.
    onLost: () => undefined,
    onBack: () => undefined,
  })
  const restore = async (): Promise<void> => {
    const known = await lastKnownGood?.read()
    // The database may have been reached meanwhile: it knows better.
    if (known !== undefined && version === undefined) install(known)
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

/** Retry hint for callers who were told that something is not known yet, milliseconds. */
export const UNKNOWN_RETRY_MS = POLL_MS

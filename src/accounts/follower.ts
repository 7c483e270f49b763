import type { Clock } from '../lib/clock.ts'

export interface FollowerOptions {
  /**
   * Brings the copy up to date; rejects if the original cannot be asked. Never runs twice at a time. `anew` means that the previous look failed: what
   * answers now may be another original (a server that took over without the last changes, a backup), whose version cannot be compared with the
   * previous one.
   */
  readonly synchronize: (anew: boolean) => Promise<void>
  readonly clock: Clock
  /** Milliseconds between two looks, and between two while they fail. */
  readonly pollMs: number
  readonly failedPollMs: number
  /** Called once per outage. */
  readonly onLost: (error: unknown) => void
  readonly onBack: (outageMs: number) => void
}

/** Keeps a copy in step with its original by polling. */
export interface Follower {
  /** Looks now, and then regularly. Rejects if the first look fails, but continues to look. */
  start(): Promise<void>
  /** Looks now. A look that is already running may have started too early, so another one follows it, which all concurrent callers share. */
  refresh(): Promise<void>
  readonly failing: boolean
  /** Milliseconds since the last successful look; undefined if there was none. */
  readonly contactAgeMs: number | undefined
  close(): Promise<void>
}

export function createFollower({ synchronize, clock, pollMs, failedPollMs, onLost, onBack }: FollowerOptions): Follower {
  let lastContact: number | undefined
  let failingSince: number | undefined
  let running: Promise<void> | undefined
  let queued: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function look(): Promise<void> {
    try {
      await synchronize(failingSince !== undefined)
    } catch (error) {
      if (failingSince === undefined) {
        failingSince = clock.monotonic()
        onLost(error)
      }
      throw error
    }
    lastContact = clock.monotonic()
    if (failingSince === undefined) return
    const outageMs = lastContact - failingSince
    failingSince = undefined
    onBack(outageMs)
  }

  function refresh(): Promise<void> {
    if (!running) {
      running = look().finally(() => (running = undefined))
      return running
    }
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined
        return refresh()
      })
    return queued
  }

  function schedule(): void {
    if (closed) return
    const waitMs = failingSince === undefined ? pollMs : failedPollMs
    timer = setTimeout(() => void poll(), waitMs)
    // The copy must not keep the process alive.
    timer.unref()
  }

  async function poll(): Promise<void> {
    await refresh().catch(() => undefined)
    schedule()
  }

  return {
    start: async () => {
      try {
        await refresh()
      } finally {
        clearTimeout(timer)
        schedule()
      }
    },
    refresh,
    get failing() {
      return failingSince !== undefined
    },
    get contactAgeMs() {
      return lastContact === undefined ? undefined : clock.monotonic() - lastContact
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await running?.catch(() => undefined)
    },
  }
}

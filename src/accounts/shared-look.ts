import type { Clock } from '../lib/clock.ts'

export interface SharedLookOptions {
  readonly clock: Clock
  /** Reads what changed; rejects if that fails or exceeds its limit. */
  readonly look: () => Promise<void>
  /** False while a look is known to be useless. */
  readonly worthIt: () => boolean
  /** Between two looks. */
  readonly everyMs: number
}

/**
 * A look for something that is not known yet. Concurrent callers share it, and the next one starts no sooner than allowed. Undefined if none is made.
 */
export function createSharedLook({ clock, look, worthIt, everyMs }: SharedLookOptions): () => Promise<void> | undefined {
  let looking: Promise<void> | undefined
  let lookedAt = -Infinity
  return () => {
    if (!worthIt()) return undefined
    const now = clock.monotonic()
    if (looking === undefined && now - lookedAt >= everyMs) {
      lookedAt = now
      looking = look().finally(() => (looking = undefined))
    }
    return looking
  }
}

import type { Clock } from '../lib/clock.ts'

export interface SecondLookOptions {
  readonly clock: Clock
  /** Reads what changed; rejects when that does not work within its limit. */
  readonly look: () => Promise<void>
  /** False while looking is known to be of no use. */
  readonly worthIt: () => boolean
  /** Between two looks. */
  readonly everyMs: number
}

/** A look for unknown keys, shared by all who ask while it runs and repeated no sooner than allowed. Undefined: none is made. */
export function createSecondLook({ clock, look, worthIt, everyMs }: SecondLookOptions): () => Promise<void> | undefined {
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

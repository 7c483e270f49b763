import type { Clock } from '../../lib/clock.ts'

/** After a command that failed, Redis is left alone for this long; twice as long after each further one, up to the longest. */
const PAUSE_MS = 500
const LONGEST_PAUSE_MS = 4_000
/** Commands that failed in a row before anybody is told: it may have been busy for a moment. */
const TOLD_AFTER = 3

/** When Redis is left alone because what it was asked failed, though its connection stands. */
export interface Pause {
  readonly isOn: boolean
  /** From when somebody was told until a command succeeded. */
  readonly inTrouble: boolean
  failed(error: unknown): void
  succeeded(): void
  /** The connection is a new one. */
  end(): void
}

export function createPause(clock: Pick<Clock, 'monotonic'>, onTrouble: (error: Error | undefined) => void = () => undefined): Pause {
  let until = 0
  let failures = 0
  let inTrouble = false
  return {
    get isOn() {
      return clock.monotonic() < until
    },
    get inTrouble() {
      return inTrouble
    },
    failed(error) {
      until = clock.monotonic() + Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(failures++, 10))
      if (inTrouble || failures < TOLD_AFTER) return
      inTrouble = true
      onTrouble(error instanceof Error ? error : new Error(String(error)))
    },
    succeeded() {
      failures = 0
      if (!inTrouble) return
      inTrouble = false
      onTrouble(undefined)
    },
    end() {
      until = 0
      failures = 0
    },
  }
}

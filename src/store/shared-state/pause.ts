import type { Clock } from '../../lib/clock.ts'

/** After a failed command Redis is left alone for this time, which doubles with each further failure up to the longest. */
const PAUSE_MS = 500
const LONGEST_PAUSE_MS = 4_000
/** Consecutive failures before anybody is told; a few may mean that Redis was busy for a moment. */
const TOLD_AFTER = 3
/** How often it is probed then, whether or not calls come. */
const ASK_MS = 2_000

/** Leaves Redis alone while commands fail although its connection stands. */
export interface Pause {
  readonly isOn: boolean
  failed(error: unknown): void
  succeeded(): void
  /** There is a new connection. */
  end(): void
  /** Stops probing. */
  close(): void
}

export interface PauseOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly onTrouble: (error: Error | undefined) => void
  /** The probe during trouble, because the calls that noticed it may be the last for a while. False: not possible now. */
  readonly ask: () => Promise<boolean>
}

export function createPause({ clock, onTrouble, ask }: PauseOptions): Pause {
  let until = 0
  let failures = 0
  let inTrouble = false
  let asking: NodeJS.Timeout | undefined

  const failed = (error: unknown): void => {
    until = clock.monotonic() + Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(failures++, 10))
    if (inTrouble || failures < TOLD_AFTER) return
    inTrouble = true
    asking = setInterval(() => void askAgain(), ASK_MS).unref()
    onTrouble(error instanceof Error ? error : new Error(String(error)))
  }
  const succeeded = (): void => {
    failures = 0
    if (!inTrouble) return
    inTrouble = false
    clearInterval(asking)
    onTrouble(undefined)
  }
  const askAgain = async (): Promise<void> => {
    try {
      if (await ask()) succeeded()
    } catch (error) {
      failed(error)
    }
  }
  return {
    get isOn() {
      return clock.monotonic() < until
    },
    failed,
    succeeded,
    end() {
      until = 0
      failures = 0
    },
    close: () => clearInterval(asking),
  }
}

import type { Clock } from '../../lib/clock.ts'

/** After a command that failed, Redis is left alone for this long; twice as long after each further one, up to the longest. */
const PAUSE_MS = 500
const LONGEST_PAUSE_MS = 4_000
/** Commands that failed in a row before anybody is told: it may have been busy for a moment. */
const TOLD_AFTER = 3
/** How often it is asked then, whether anybody calls or not. */
const ASK_MS = 2_000

/** When Redis is left alone because what it was asked failed, though its connection stands. */
export interface Pause {
  readonly isOn: boolean
  failed(error: unknown): void
  succeeded(): void
  /** The connection is a new one. */
  end(): void
  /** Asks no more. */
  close(): void
}

export interface PauseOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly onTrouble: (error: Error | undefined) => void
  /** What is asked now and then while it is in trouble: those who found it may have been the last for a while. False: not now. */
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

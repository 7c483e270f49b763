import type { Clock } from '../lib/clock.ts'

export interface ProgressOptions {
  /** Standard error: what a command prints to standard output is for programs, too. */
  readonly stream: { readonly isTTY?: boolean; write(text: string): unknown }
  readonly clock: Pick<Clock, 'monotonic'>
}

export interface Progress {
  /** Call it as often as there is something new. */
  show(text: () => string): void
  /** Removes what a terminal shows. */
  end(): void
}

/** What is done sooner needs no report. */
const FIRST_MS = 2_000
const TERMINAL_MS = 500
/** In a log every report is a line. */
const LOG_MS = 10_000
const CLEAR_LINE = '\r\u001b[K'

/** Reports how far long work is: in a terminal one line that changes, elsewhere a line now and then. */
export function createProgress({ stream, clock }: ProgressOptions): Progress {
  const isTerminal = stream.isTTY === true
  let dueAt = clock.monotonic() + (isTerminal ? FIRST_MS : LOG_MS)
  let isShown = false
  return {
    show(text) {
      const now = clock.monotonic()
      if (now < dueAt) return
      dueAt = now + (isTerminal ? TERMINAL_MS : LOG_MS)
      stream.write(isTerminal ? `${CLEAR_LINE}${text()}` : `${text()}\n`)
      isShown = true
    },
    end() {
      if (isTerminal && isShown) stream.write(CLEAR_LINE)
      isShown = false
    },
  }
}

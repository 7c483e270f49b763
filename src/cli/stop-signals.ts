import { systemClock, type Clock } from '../lib/clock.ts'

/**
 * One wish to stop can arrive twice: a terminal sends Ctrl-C to every process it started, a supervisor may do so with SIGTERM, and npm passes on what
 * it got itself. That takes milliseconds, and longer on a busy machine; a second wish takes a person longer still.
 */
const ONE_WISH_MS = 500

export interface SignalOptions {
  /** Emits the signals; replaced in tests. */
  readonly source?: Pick<NodeJS.Process, 'on' | 'off'>
  readonly clock?: Pick<Clock, 'monotonic'>
}

/** Calls `stop` at the first SIGTERM or SIGINT and `kill` at the second of either. Returns a function that removes the listeners. */
export function onStopSignals(
  stop: (signal: string) => void,
  kill: () => void,
  { source = process, clock = systemClock }: SignalOptions = {},
): () => void {
  let stoppingSince: number | undefined
  const listeners = (['SIGTERM', 'SIGINT'] as const).map((signal) => {
    const listener = (): void => {
      if (stoppingSince === undefined) {
        stoppingSince = clock.monotonic()
        stop(signal)
      } else if (clock.monotonic() - stoppingSince >= ONE_WISH_MS) kill()
    }
    source.on(signal, listener)
    return () => source.off(signal, listener)
  })
  return () => listeners.forEach((forget) => forget())
}

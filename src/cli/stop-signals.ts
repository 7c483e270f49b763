/**
 * Calls `stop` with the first of SIGTERM and SIGINT, and `kill` with the second, whichever they are. `source`: where signals are heard;
 * replaced in tests.
 */
export function onStopSignals(stop: (signal: string) => void, kill: () => void, source: Pick<NodeJS.Process, 'on'> = process): void {
  let heard = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    source.on(signal, () => {
      if (heard) return kill()
      heard = true
      stop(signal)
    })
  }
}

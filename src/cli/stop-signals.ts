/**
 * Calls `stop` with the first of SIGTERM and SIGINT, and `kill` with the second, whichever they are. Returns what ends that. `source`: where signals
 * are heard; replaced in tests.
 */
export function onStopSignals(stop: (signal: string) => void, kill: () => void, source: Pick<NodeJS.Process, 'on' | 'off'> = process): () => void {
  let heard = false
  const listeners = (['SIGTERM', 'SIGINT'] as const).map((signal) => {
    const listener = (): void => {
      if (heard) return kill()
      heard = true
      stop(signal)
    }
    source.on(signal, listener)
    return () => source.off(signal, listener)
  })
  return () => listeners.forEach((forget) => forget())
}

/**
 * Calls `stop` at the first SIGTERM or SIGINT and `kill` at the second of either. Returns a function that removes the listeners. `source` emits the
 * signals; replaced in tests.
 */
export function onStopSignals(stop: (signal: string) => void, kill: () => void, source: Pick<NodeJS.Process, 'on' | 'off'> = process): () => void {
  let isStopping = false
  const listeners = (['SIGTERM', 'SIGINT'] as const).map((signal) => {
    const listener = (): void => {
      if (isStopping) return kill()
      isStopping = true
      stop(signal)
    }
    source.on(signal, listener)
    return () => source.off(signal, listener)
  })
  return () => listeners.forEach((forget) => forget())
}

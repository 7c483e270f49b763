/** In milliseconds. Node's timers fire at once for anything longer. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Resolves after `ms`; rejects with the signal's reason as soon as it fires. Leaves no listener behind. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

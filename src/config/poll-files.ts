import { stat } from 'node:fs/promises'

/**
 * Calls `onChange` when one of the files is made, replaced, written, or removed. What counts is the difference from the time of this call, once it has
 * resolved: who reads the files afterwards misses no change. (`fs.watchFile` takes what it finds at its own first look, some time later, for the beginning.)
 * Does not keep the process running. Returns a function that ends it.
 */
export async function pollFiles(paths: readonly string[], everyMs: number, onChange: () => void): Promise<() => void> {
  const look = (): Promise<readonly string[]> => Promise.all(paths.map(stateOf))
  let seen = await look()
  let isLooking = false
  let closed = false
  const timer = setInterval(() => {
    // A file system that does not answer is not asked again and again.
    if (isLooking) return
    isLooking = true
    void look().then((now) => {
      isLooking = false
      const hasChanged = now.some((state, n) => state !== seen[n])
      seen = now
      if (hasChanged && !closed) onChange()
    })
  }, everyMs).unref()
  return () => {
    closed = true
    clearInterval(timer)
  }
}

/** What changes when the content does; empty for a file that is not there. */
const stateOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(),
    () => '',
  )

import { stat } from 'node:fs/promises'

/** Looks at which a file may differ from the one before until it is reported although it does not rest. */
const MOST_RESTLESS_LOOKS = 10

/**
 * Calls `onChange` when one of the files was made, replaced, written, or removed, and is the same at the next look. What counts is the difference from the time of this call, once it has
 * resolved: who reads the files afterwards misses no change. (`fs.watchFile` takes what it finds at its own first look, some time later, for the beginning.)
 * Does not keep the process running. Returns a function that ends it.
 */
export async function pollFiles(paths: readonly string[], everyMs: number, onChange: () => void): Promise<() => void> {
  const look = async (): Promise<string> => (await Promise.all(paths.map(stateOf))).join(' ')
  const isDue = changesAtRest(await look())
  let isLooking = false
  let closed = false
  const timer = setInterval(() => {
    // A file system that does not answer is not asked again and again.
    if (isLooking) return
    isLooking = true
    void look().then((now) => {
      isLooking = false
      if (isDue(now) && !closed) onChange()
    })
  }, everyMs).unref()
  return () => {
    closed = true
    clearInterval(timer)
  }
}

/**
 * Says of each look, given what was seen, whether a change is to be reported: once two looks see the same. What is written in parts is often valid
 * when only its beginning is there, and then says something else.
 */
export function changesAtRest(first: string): (now: string) => boolean {
  let reported = first
  let last = first
  let restless = 0
  return (now) => {
    const rests = now === last
    last = now
    if (now === reported) restless = 0
    if (now === reported || (!rests && ++restless < MOST_RESTLESS_LOOKS)) return false
    reported = now
    restless = 0
    return true
  }
}

/** What changes when the content does; empty for a file that is not there. */
const stateOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(),
    () => '',
  )

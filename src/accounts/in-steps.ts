import { setImmediate as turn } from 'node:timers/promises'

/** Keys or workspaces that are worked on in one turn of the event loop: a few milliseconds. */
const STEP = 1_000

/** For what a large installation has hundreds of thousands of: calls are served in between. Short lists take no turn. */
export async function inSteps<Each>(all: Iterable<Each>, work: (each: Each) => void): Promise<void> {
  let done = 0
  for (const each of all) {
    // Not in line with long tasks, like the reading of these copies.
    if (done > 0 && done % STEP === 0) await turn()
    work(each)
    done++
  }
}

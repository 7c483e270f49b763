let waiting: (() => void)[] = []
let spare: (() => void)[] = []

/**
 * Runs `work` when all that this turn of the event loop brought has been read, together with what others have put off until then, in the order
 * it came. Under load a turn brings the bytes of several calls. Gone through one after the other, each call meets a processor that has just
 * forgotten how its step is done, and wakes its reader for a single write; gone through together, step by step, they share both. A call that is
 * alone waits for nothing. What `work` throws is thrown when the others have had their turn.
 */
export function atTurnEnd(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(run)
}

function run(): void {
  const now = waiting
  waiting = spare
  for (const work of now) {
    try {
      work()
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
  now.length = 0
  spare = now
}

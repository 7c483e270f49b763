/** The most that gain from continuing together. With a thousand, all would be half done, and take the memory for that, before the first is finished. */
const GROUP = 32

/** The group that is not full. */
let open: (() => void)[] | undefined

/**
 * Runs `work` once everything that this turn of the event loop brought has been read, together with other deferred work, in order. Under load a turn
 * brings the bytes of several calls. Handled one after the other, each call finds the processor's caches cold for its step, and wakes its reader for
 * a single write; handled together, step by step, they share both. A single call waits for nothing. What `work` throws is thrown after the others
 * have run.
 */
export function atTurnEnd(work: () => void): void {
  if (open === undefined || open.length === GROUP) {
    open = []
    setImmediate(run, open)
  }
  open.push(work)
}

function run(group: readonly (() => void)[]): void {
  if (open === group) open = undefined
  for (const work of group) {
    try {
      work()
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}

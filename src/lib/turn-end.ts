/** The largest group that gains from running together. Of a thousand, all would be half done, and hold memory for it, before the first is finished. */
const GROUP = 32

/** The group that is not yet full. */
let open: (() => void)[] | undefined

/**
 * Runs `work` after everything that arrived in this turn of the event loop has been read, together with other deferred work, in order. Under load a turn
 * brings the bytes of several calls. Handled one after the other, each call finds cold processor caches for its step and wakes its reader for a single
 * write. Handled together, step by step, they share both. A single call does not wait. An error thrown by `work` is rethrown after all others have run.
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

/** As many go on together as gain by it. Of a thousand, all would be half done, with what that takes of memory, before the first is. */
const GROUP = 32

/** The group that is not full. */
let open: (() => void)[] | undefined

/**
 * Runs `work` when all that this turn of the event loop brought has been read, together with what others have put off until then, in the order
 * it came. Under load a turn brings the bytes of several calls. Gone through one after the other, each call meets a processor that has just
 * forgotten how its step is done, and wakes its reader for a single write; gone through together, step by step, they share both. A call that is
 * alone waits for nothing. What `work` throws is thrown when the others have had their turn.
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

/**
 * Calls `isLate` after this many milliseconds, and after one turn of the event loop more. After a long turn, or while the machine stood still, timers fire
 * before what arrived meanwhile is read; an answer that was in time would count as late. Returns what calls it off, also within that last turn.
 */
export function whenLate(ms: number, isLate: () => void): () => void {
  let turn: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    turn = setImmediate(isLate)
  }, ms).unref()
  return () => {
    clearTimeout(timer)
    clearImmediate(turn)
  }
}

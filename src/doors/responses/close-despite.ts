/**
 * Runs `close` until all of `open` is closed, for an answer that has failed and must reach its end: what refuses to be told then (an item
 * its format has no place for, which was waiting) is of no interest any more. Throws on when a run closes nothing.
 */
export function closeDespite(close: () => void, open: { readonly size: number }): void {
  for (;;) {
    const before = open.size
    try {
      close()
      return
    } catch (error) {
      if (open.size >= before) throw error
    }
  }
}

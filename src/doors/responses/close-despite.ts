/**
 * Runs `close` until all of `open` is closed, for an answer that has failed and must reach its end: errors thrown on the way (for example, a waiting item
 * that its format cannot express) no longer matter. Rethrows if a run closes nothing.
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

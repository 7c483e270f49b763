/**
 * Milliseconds of the fastest of several rounds of `times` calls, so that a busy machine does not decide. By the clock on the wall: that of the
 * processor counts in steps of milliseconds, and what is compared here takes less.
 */
export function fastestOf(work: () => unknown, times: number, rounds = 7): number {
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    for (let n = 0; n < times; n++) work()
    best = Math.min(best, performance.now() - began)
  }
  return best
}

/**
 * Milliseconds of the fastest of several rounds of `times` calls, so that other load on the machine does not decide. Uses wall-clock time: CPU time is
 * counted in steps of milliseconds, and what is compared here takes less.
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

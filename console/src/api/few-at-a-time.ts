/**
 * Does the same with each of many things, `most` of them at a time, and returns what came of it in their order. A browser sends six requests to a gateway
 * at a time, and the time limit of those that wait in its queue runs: hundreds of them would be given up, and hold up everything else on the page. The
 * first failure ends the rest.
 */
export async function fewAtATime<T, Found>(things: readonly T[], most: number, work: (thing: T) => Promise<Found>): Promise<readonly Found[]> {
  const found: Found[] = []
  // Shared, so that each thing is taken once.
  const waiting = things.entries()
  let hasFailed = false
  const goOn = async (): Promise<void> => {
    for (const [at, thing] of waiting) {
      if (hasFailed) return
      found[at] = await work(thing)
    }
  }
  const workers = Array.from({ length: most }, () =>
    goOn().catch((error: unknown) => {
      hasFailed = true
      throw error
    }),
  )
  await Promise.all(workers)
  return found
}

import { PerformanceObserver, constants } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** What is known and set of the garbage collector; replaced in tests. */
export interface Collector {
  /** Bytes the young generation takes now. */
  size(): number
  /** By how much the young generation grows at its next growth: 1 is not at all. */
  setGrowth(factor: number): void
  /** Calls back after each collection of the young generation with its time in milliseconds; ends with the function it returns. */
  observe(onCollection: (atMs: number) => void): () => void
}

export interface YoungGenerationOptions {
  /** Bytes it may grow to while little is collected. */
  readonly heldBytes: number
  /** Collections of a space of that size in a second that count as much; smaller ones count for their part. */
  readonly busyPerSecond: number
  /** Seconds in a row of much before it may grow as V8 likes. */
  readonly busySeconds: number
}

/** At most two halves of 8 MiB: half a millisecond of collecting for what a hundred calls leave behind. */
const DEFAULTS: YoungGenerationOptions = { heldBytes: 16 * 1024 * 1024, busyPerSecond: 20, busySeconds: 3 }

/**
 * Keeps V8's young generation small until the work needs more. By itself it doubles with every burst, up to 64 MiB, and stays: a thousand streams
 * opened at once would each cost 40 KB more, for garbage that is long gone. Under sustained load the full size is worth its memory, because each
 * collection copies what is in flight. Returns what ends the watch; the last factor stays in force.
 */
export function holdYoungGeneration(collector: Collector = v8Collector(), options: YoungGenerationOptions = DEFAULTS): () => void {
  let factor = 1
  let second = 0
  let inSecond = 0
  let busySeconds = 0
  const set = (next: number): void => {
    if (next === factor) return
    factor = next
    collector.setGrowth(next)
  }
  // A long turn of the event loop, such as building the catalog, would let it grow to its maximum before anybody could tell.
  collector.setGrowth(1)
  const stop = collector.observe((atMs) => {
    const now = Math.floor(atMs / 1_000)
    if (now !== second) {
      busySeconds = inSecond >= options.busyPerSecond && now === second + 1 ? busySeconds + 1 : 0
      second = now
      inSecond = 0
    }
    const size = collector.size()
    inSecond += Math.min(1, size / options.heldBytes)
    // Two collections may come in one turn of the event loop, before this hears of the first: both growths together have to fit.
    if (busySeconds < options.busySeconds) return set(Math.max(1, Math.floor(Math.sqrt(options.heldBytes / size))))
    set(2)
    stop()
  })
  return stop
}

/** Entries of the type `gc`: the documentation has `detail`, the types do not. */
interface CollectionEntry {
  readonly startTime: number
  readonly detail: { readonly kind: number }
}

/** V8 reads the factor each time it is about to grow the space, so it can be set while the process runs; the maximum can not. */
function v8Collector(): Collector {
  return {
    size: () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0,
    setGrowth: (factor) => setFlagsFromString(`--semi-space-growth-factor=${factor}`),
    observe(onCollection) {
      const observer = new PerformanceObserver((list) => {
        for (const { detail, startTime } of list.getEntries() as unknown as readonly CollectionEntry[]) {
          if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) onCollection(startTime)
        }
      })
      observer.observe({ entryTypes: ['gc'] })
      return () => observer.disconnect()
    },
  }
}

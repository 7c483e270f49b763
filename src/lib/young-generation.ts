import { PerformanceObserver, constants } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** The garbage collector's readings and settings; replaced in tests. */
export interface Collector {
  /** Current size of the young generation in bytes. */
  size(): number
  /** The factor by which the young generation grows the next time; 1 means not at all. */
  setGrowth(factor: number): void
  /** Calls back with the time of each young-generation collection, in milliseconds. Returns a function that stops this. */
  observe(onCollection: (atMs: number) => void): () => void
}

export interface YoungGenerationOptions {
  /** The size in bytes up to which it may grow while there are few collections. */
  readonly heldBytes: number
  /** The number of collections per second, at the full `heldBytes`, that counts as busy. A collection of a smaller space counts in proportion to its size. */
  readonly busyPerSecond: number
  /** Consecutive busy seconds before it may grow as V8 decides. */
  readonly busySeconds: number
}

/** At most two halves of 8 MiB, which take half a millisecond to collect for the garbage of a hundred calls. */
const DEFAULTS: YoungGenerationOptions = { heldBytes: 16 * 1024 * 1024, busyPerSecond: 20, busySeconds: 3 }

/**
 * Keeps V8's young generation small until the load needs more. By default it doubles with every burst, up to 64 MiB, and does not shrink again: each of a
 * thousand streams opened at once would cost 40 KB more, for garbage that is long gone. Under sustained load the full size is worth its memory, because
 * each collection copies the live objects of all calls in flight. Returns a function that stops the observation; the last factor stays in force.
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
  // During a long turn of the event loop, such as building the catalog, it would grow to its maximum before the observer runs.
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
    // Two collections may happen in one turn of the event loop before the observer hears of the first, so two growths together must stay within the limit.
    if (busySeconds < options.busySeconds) return set(Math.max(1, Math.floor(Math.sqrt(options.heldBytes / size))))
    set(2)
    stop()
  })
  return stop
}

/** Performance entries of type `gc`: `detail` is documented but missing from the types. */
interface CollectionEntry {
  readonly startTime: number
  readonly detail: { readonly kind: number }
}

/** V8 reads the factor each time it is about to grow the space, so it can be set at run time; the maximum cannot. */
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

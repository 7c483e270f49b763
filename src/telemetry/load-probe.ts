import { getHeapStatistics } from 'node:v8'
import type { Clock } from '../lib/clock.ts'

/** How the process is doing: how late its event loop is, milliseconds, and its share of the memory it may use, 0 to 1. */
export interface ProbedLoad {
  readonly delayMs: number
  readonly memoryShare: number
}

export interface LoadProbeOptions {
  readonly clock: Clock
  readonly onLoad: (load: ProbedLoad) => void
  readonly everyMs?: number
  /** Default: the heap's and the container's. */
  readonly memoryShare?: () => number
}

const EVERY_MS = 100
/** One long turn of the event loop, such as a collection of garbage, is no pressure: the newest look counts for this much. */
const NEWEST = 0.4
/** Memory is looked at with every tenth look. */
const MEMORY_LOOKS = 10

/** Measures the delay of its own timer: nothing runs on the hot path. Returns what ends it. */
export function startLoadProbe({ clock, onLoad, everyMs = EVERY_MS, memoryShare = memoryInUse }: LoadProbeOptions): () => void {
  let expected = clock.monotonic() + everyMs
  let delayMs = 0
  let memory = 0
  let looks = 0
  const timer = setInterval(() => {
    const now = clock.monotonic()
    delayMs += NEWEST * (Math.max(0, now - expected) - delayMs)
    expected = now + everyMs
    if (looks++ % MEMORY_LOOKS === 0) memory = memoryShare()
    onLoad({ delayMs, memoryShare: memory })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Of the heap, or of what the container allows the whole process, whichever is nearer to its end. */
function memoryInUse(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  const allowed = process.constrainedMemory()
  // Without a container there is no bound, which some systems say with an absurd number.
  const ofContainer = allowed > 0 && allowed < 2 ** 50 ? process.memoryUsage.rss() / allowed : 0
  return Math.max(used / limit, ofContainer)
}

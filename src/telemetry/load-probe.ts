import { readFileSync } from 'node:fs'
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
  /** How many processes like this one share the container. Default: this one alone. */
  readonly processes?: number
  /** Default: the heap's and the container's. */
  readonly memoryShare?: () => number
}

const EVERY_MS = 100
/** One long turn of the event loop, such as a collection of garbage, is no pressure: the newest look counts for this much. */
const NEWEST = 0.4
/** Memory is looked at with every tenth look. */
const MEMORY_LOOKS = 10

/** Measures the delay of its own timer: nothing runs on the hot path. Returns what ends it. */
export function startLoadProbe({ clock, onLoad, everyMs = EVERY_MS, processes = 1, memoryShare }: LoadProbeOptions): () => void {
  const lookAtMemory = createMemoryLook(processes)
  const look = memoryShare ?? (() => memoryShareOf(lookAtMemory(), processes))
  let expected = clock.monotonic() + everyMs
  let delayMs = 0
  let memory = 0
  let looks = 0
  const timer = setInterval(() => {
    const now = clock.monotonic()
    delayMs += NEWEST * (Math.max(0, now - expected) - delayMs)
    expected = now + everyMs
    if (looks++ % MEMORY_LOOKS === 0) memory = look()
    onLoad({ delayMs, memoryShare: memory })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Bytes. */
export interface MemoryUse {
  readonly heapUsed: number
  readonly heapLimit: number
  /** What the container allows all of its processes together: 0 or an absurdly large number if there is no limit. */
  readonly allowed: number
  readonly resident: number
  /** Without pages of files, which processes share and the kernel takes back. */
  readonly own: number
}

/**
 * The share of the heap or of the container's limit, whichever is closer to exhaustion. Each of several processes may use its part of the container:
 * they get equal shares of the calls, and the kernel kills one of them once all together have used the limit, however little each has.
 */
export function memoryShareOf(use: MemoryUse, processes: number): number {
  return Math.max(use.heapUsed / use.heapLimit, isBounded(use) ? inContainer(use, processes) / use.allowed : 0)
}

/** Bytes that one of so many processes may still use until it has this share, by the same reckoning; negative: it has more. */
export function memoryLeftOf(use: MemoryUse, processes: number, share: number): number {
  const ofHeap = use.heapLimit * share - use.heapUsed
  return isBounded(use) ? Math.min(ofHeap, (use.allowed * share - inContainer(use, processes)) / processes) : ofHeap
}

const isBounded = ({ allowed }: MemoryUse): boolean => allowed > 0 && allowed < 2 ** 50

const inContainer = ({ resident, own }: MemoryUse, processes: number): number => (processes === 1 ? resident : Math.max(resident, own * processes))

/** Linux reports resident memory in a file. If none can be opened (no descriptors left, no /proc), the last value counts, and the heap. */
export function createMemoryLook(processes: number): () => MemoryUse {
  let resident = 0
  const limit = heapLimit()
  return () => {
    const { used_heap_size: heapUsed } = getHeapStatistics()
    try {
      resident = process.memoryUsage.rss()
    } catch {
      // The next look may have it.
    }
    const own = processes === 1 ? resident : (ownMemory() ?? resident)
    return { heapUsed, heapLimit: limit, allowed: process.constrainedMemory(), resident, own }
  }
}

/** Bytes the heap of this process may have; V8 does not change it while it runs. */
export const heapLimit = (): number =>
  Math.min(getHeapStatistics().heap_size_limit, chosenHeapLimit([process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ')) ?? Infinity)

/**
 * Bytes of `--max-old-space-size` among these options of Node. V8 adds to its limit what young objects may take, up to 192 MB, and ends the process
 * when the old ones have used up theirs: of a small heap nine tenths of the sum are never reached.
 */
export function chosenHeapLimit(options: string): number | undefined {
  const megabytes = Number([...options.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)].at(-1)?.[1] ?? 0)
  return megabytes === 0 ? undefined : megabytes * 1_024 * 1_024
}

/** Memory without a file behind it; undefined if the system does not say (only Linux does). */
function ownMemory(): number | undefined {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024
  } catch {
    return undefined
  }
}

import { readFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import type { Clock } from '../lib/clock.ts'

/** The load of the process: the delay of its event loop in milliseconds, and its share of the memory it may use, 0 to 1. */
export interface ProbedLoad {
  readonly delayMs: number
  readonly memoryShare: number
}

export interface LoadProbeOptions {
  readonly clock: Clock
  readonly onLoad: (load: ProbedLoad) => void
  readonly everyMs?: number
  /** The number of processes like this one in the container. Default: this one alone. */
  readonly processes?: number
  /** Default: measured for the heap and the container. */
  readonly memoryShare?: () => number
}

const EVERY_MS = 100
/** Weight of the newest measurement. A single long turn of the event loop, such as a garbage collection, is no overload. */
const NEWEST = 0.4
/** Memory is measured with every tenth measurement of the delay. */
const MEMORY_LOOKS = 10

/** Measures the delay of its own timer, so nothing runs on the hot path. Returns a function that stops it. */
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
  /** The container's limit for all of its processes: 0 or absurdly large if there is none. */
  readonly allowed: number
  readonly resident: number
  /** Without file-backed pages, which processes share and the kernel can reclaim. */
  readonly own: number
}

/**
 * The share of the heap limit or of the container's limit, whichever is larger. With several processes each may use its part: they get equal shares of the
 * calls, and the kernel kills one of them once all together reach the container's limit, however little each uses.
 */
export function memoryShareOf(use: MemoryUse, processes: number): number {
  return Math.max(use.heapUsed / use.heapLimit, isBounded(use) ? inContainer(use, processes) / use.allowed : 0)
}

/** The bytes that each of this many processes may still use until it reaches this share, by the same calculation; negative if it exceeds the share. */
export function memoryLeftOf(use: MemoryUse, processes: number, share: number): number {
  const ofHeap = use.heapLimit * share - use.heapUsed
  return isBounded(use) ? Math.min(ofHeap, (use.allowed * share - inContainer(use, processes)) / processes) : ofHeap
}

const isBounded = ({ allowed }: MemoryUse): boolean => allowed > 0 && allowed < 2 ** 50

const inContainer = ({ resident, own }: MemoryUse, processes: number): number => (processes === 1 ? resident : Math.max(resident, own * processes))

/** Linux reports resident memory in a file. If it cannot be opened (no file descriptors left, no /proc), the last value is used, together with the heap. */
export function createMemoryLook(processes: number): () => MemoryUse {
  let resident = 0
  const limit = heapLimit()
  return () => {
    const { used_heap_size: heapUsed } = getHeapStatistics()
    try {
      resident = process.memoryUsage.rss()
    } catch {
      // The next measurement may succeed.
    }
    const own = processes === 1 ? resident : (ownMemory() ?? resident)
    return { heapUsed, heapLimit: limit, allowed: process.constrainedMemory(), resident, own }
  }
}

const MB = 1_024 * 1_024
/** The most that V8 grants young objects by itself: this share of the whole heap, and never more than so many bytes. */
const YOUNG_SHARE = 1 / 9
const MOST_YOUNG = 192 * MB
/** The young generation consists of this many semi-spaces. */
const SEMI_SPACES = 3

/** The heap limit of this process in bytes; V8 does not change it at run time. */
export const heapLimit = (): number =>
  oldHeapLimit(getHeapStatistics().heap_size_limit, [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' '))

/**
 * Bytes of the old generation with these Node options. V8 adds the young generation to the limit that it reports, but ends the process once the old
 * one is full: a heap of a few gigabytes or less, as in most containers, never reaches nine tenths of the sum.
 */
export function oldHeapLimit(reported: number, options: string): number {
  const chosen = chosenBytes(options, 'old')
  if (chosen !== undefined) return Math.min(reported, chosen)
  const semiSpace = chosenBytes(options, 'semi')
  return reported - (semiSpace === undefined ? Math.min(reported * YOUNG_SHARE, MOST_YOUNG) : semiSpace * SEMI_SPACES)
}

/** What `--max-old-space-size` or `--max-semi-space-size` says. */
function chosenBytes(options: string, space: 'old' | 'semi'): number | undefined {
  const named = new RegExp(`--max[-_]${space}[-_]space[-_]size[= ](\\d+)`, 'g')
  const megabytes = Number([...options.matchAll(named)].at(-1)?.[1] ?? 0)
  return megabytes === 0 ? undefined : megabytes * MB
}

/** Anonymous memory, which no file backs; undefined if the system does not report it (only Linux does). */
function ownMemory(): number | undefined {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024
  } catch {
    return undefined
  }
}

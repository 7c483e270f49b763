import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getHeapStatistics } from 'node:v8'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryLook, memoryLeftOf, memoryShareOf, oldHeapLimit, startLoadProbe, type ProbedLoad } from './load-probe.ts'

let now = 0
const clock = { now: () => now, monotonic: () => now }
let seen: ProbedLoad[]
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers()
  now = 0
  seen = []
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

/** One turn of the event loop that takes this long. */
function turn(ms: number): void {
  now += ms
  vi.advanceTimersByTime(100)
}
function start(memoryShare: () => number = () => 0.5): void {
  stop = startLoadProbe({ clock, onLoad: (load) => seen.push(load), memoryShare })
}

it('finds no delay in a loop that keeps up', () => {
  start()
  for (let i = 0; i < 5; i++) turn(100)
  expect(seen).toHaveLength(5)
  expect(seen.at(-1)).toEqual({ delayMs: 0, memoryShare: 0.5 })
})

it('ignores one long turn of the event loop and detects a loop that stays late', () => {
  start()
  turn(100)
  turn(400)
  expect(seen.at(-1)!.delayMs).toBeCloseTo(120)
  for (let i = 0; i < 10; i++) turn(400)
  expect(seen.at(-1)!.delayMs).toBeGreaterThan(290)
  for (let i = 0; i < 10; i++) turn(100)
  expect(seen.at(-1)!.delayMs).toBeLessThan(5)
})

it('looks at memory now and then', () => {
  let looks = 0
  start(() => ++looks / 100)
  for (let i = 0; i < 21; i++) turn(100)
  expect(looks).toBe(3)
  expect(seen.at(-1)!.memoryShare).toBe(0.03)
})

it('measures the memory of this process', () => {
  stop = startLoadProbe({ clock, onLoad: (load) => seen.push(load) })
  turn(100)
  expect(seen[0]!.memoryShare).toBeGreaterThan(0)
  expect(seen[0]!.memoryShare).toBeLessThan(1)
})

const MB = 2 ** 20
const use = { heapUsed: 50 * MB, heapLimit: 1_000 * MB, allowed: 1_000 * MB, resident: 300 * MB, own: 240 * MB }

it('counts what a process has of its container, or the heap of its bound, whichever is nearer to its end', () => {
  expect(memoryShareOf(use, 1)).toBe(0.3)
  expect(memoryShareOf({ ...use, heapUsed: 800 * MB }, 1)).toBe(0.8)
  for (const allowed of [0, 2 ** 63]) expect(memoryShareOf({ ...use, allowed }, 1)).toBe(0.05)
})

it('counts a container that several processes share by the part of each, and pages of files, which they share, once', () => {
  expect(memoryShareOf(use, 4)).toBe(0.96)
  expect(memoryShareOf({ ...use, own: 60 * MB }, 4)).toBe(0.3)
})

it('says how much is left until a share is reached, of the heap or of the part of a container, whichever is less', () => {
  expect(memoryLeftOf(use, 1, 0.9)).toBe(600 * MB)
  expect(memoryLeftOf({ ...use, heapUsed: 800 * MB }, 1, 0.9)).toBe(100 * MB)
  expect(memoryLeftOf({ ...use, allowed: 0 }, 1, 0.9)).toBe(850 * MB)
  expect(memoryLeftOf({ ...use, own: 150 * MB }, 4, 0.9)).toBe(75 * MB)
  expect(memoryLeftOf({ ...use, resident: 950 * MB }, 1, 0.9)).toBe(-50 * MB)
})

it('measures the memory of this process among others', () => {
  stop = startLoadProbe({ clock, onLoad: (load) => seen.push(load), processes: 2 })
  turn(100)
  expect(seen[0]!.memoryShare).toBeGreaterThan(0)
})

it('knows the bound of the heap that an operator has chosen, to which V8 adds what young objects may take', () => {
  const reported = 4_288 * MB
  expect(oldHeapLimit(reported, '--max-old-space-size=112')).toBe(112 * MB)
  expect(oldHeapLimit(reported, '--inspect --max_old_space_size 300 --max-old-space-size=200 --trace-gc')).toBe(200 * MB)
  expect(oldHeapLimit(896 * MB, '--max-semi-space-size=128')).toBe(512 * MB)
  for (const options of ['', '--trace-gc', '--max-old-space-size=0']) expect(oldHeapLimit(reported, options)).toBe(4_096 * MB)
  vi.stubEnv('NODE_OPTIONS', '--max-old-space-size=64')
  expect(createMemoryLook(1)().heapLimit).toBe(64 * MB)
  vi.unstubAllEnvs()
  expect(createMemoryLook(1)().heapLimit).toBeLessThan(getHeapStatistics().heap_size_limit)
})

// What V8 24 reports in containers of half a gigabyte to 16, and what it lets old objects take of that.
it.each([
  [259, 256],
  [432, 384],
  [560, 512],
  [864, 768],
  [1_120, 1_024],
  [1_728, 1_536],
  [2_240, 2_048],
  [4_288, 4_096],
])('takes nothing for room that is not there: of %i MB, %i are for old objects', (reported, old) => {
  const limit = oldHeapLimit(reported * MB, '') / MB
  expect(limit).toBeLessThanOrEqual(old)
  expect(limit).toBeGreaterThan(old * 0.89)
})

// The smallest heaps with a young generation worth mentioning.
it('a process that fills its heap is seen to be at nine tenths of it before it ends', () => {
  const program = `
    import { createMemoryLook, memoryShareOf } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'load-probe.ts')).href)}
    const look = createMemoryLook(1)
    const kept = []
    while (memoryShareOf({ ...look(), allowed: 0 }, 1) < 0.9) kept.push(Array.from({ length: 20_000 }, (_, i) => ({ i })))
    process.stdout.write('seen')`
  const { stdout } = spawnSync(process.execPath, ['--max-heap-size=432', '--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  expect(stdout).toBe('seen')
}, 60_000)

it('uses the heap, and the last reading, where the system does not state the memory of the process', () => {
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' })
  })
  try {
    stop = startLoadProbe({ clock, onLoad: (load) => seen.push(load) })
    turn(100)
    expect(seen[0]!.memoryShare).toBeGreaterThan(0)
  } finally {
    rss.mockRestore()
  }
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startLoadProbe, type ProbedLoad } from './load-probe.ts'

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

/** One turn of the event loop that takes so long. */
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

it('passes over one long turn and sees a loop that stays late', () => {
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

it('knows the memory of this process', () => {
  stop = startLoadProbe({ clock, onLoad: (load) => seen.push(load) })
  turn(100)
  expect(seen[0]!.memoryShare).toBeGreaterThan(0)
  expect(seen[0]!.memoryShare).toBeLessThan(1)
})

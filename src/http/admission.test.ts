import { describe, expect, it } from 'vitest'
import type { OverloadConfig } from '../core/config.ts'
import { Admission, type Load } from './admission.ts'
import { verifies } from '../../e2e/requirements.ts'

const LIMITS: OverloadConfig = { enabled: true, eventLoopDelayMs: 100, memoryShare: 0.9, calls: 100 }
const calm: Load = { delayMs: 5, memoryShare: 0.3 }
const late: Load = { delayMs: 300, memoryShare: 0.3 }
const full: Load = { delayMs: 5, memoryShare: 0.95 }

const open = (limits: Partial<OverloadConfig> = {}): Admission => new Admission(() => ({ ...LIMITS, ...limits }))
/** How many calls of a key are taken before the first refusal. */
function flood(admission: Admission, key: string, tries = 1_000): number {
  for (let taken = 0; taken < tries; taken++) {
    try {
      admission.enter(key)
    } catch {
      return taken
    }
  }
  return tries
}
const observe = (admission: Admission, load: Load, times = 1): void => {
  for (let i = 0; i < times; i++) admission.observe(load)
}

describe('without pressure', () => {
  it('takes every call up to the configured number, and one more for each that ends', () => {
    const admission = open({ calls: 5 })
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const key of keys) admission.enter(key)
    expect(() => admission.enter('f')).toThrow('more calls than it can serve')
    admission.leave('c')
    admission.enter('f')
    expect(admission.stats()).toMatchObject({ inFlight: 5, shed: 1 })
  })

  it('leaves room for others when one key floods', () => {
    const admission = open()
    expect(flood(admission, 'greedy')).toBe(80)
    expect(flood(admission, 'other')).toBeGreaterThanOrEqual(10)
    for (const key of ['x', 'y', 'z']) admission.enter(key)
  })

  it(verifies('I8', 'refuses with a 503 that says when to come back'), () => {
    const admission = open({ calls: 1 })
    admission.enter('a')
    const refusal = (retryAfterMs: number) =>
      expect.objectContaining({ status: 503, errorType: 'provider_overloaded', details: { retryAfterMs, failover: 'never' } })
    expect(() => admission.enter('b')).toThrow(refusal(1_000))
    // The longer the pressure lasts, the later; within bounds.
    observe(admission, late, 10)
    expect(() => admission.enter('b')).toThrow(refusal(2_000))
    observe(admission, late, 1_000)
    expect(() => admission.enter('b')).toThrow(refusal(5_000))
    observe(admission, calm)
    expect(() => admission.enter('b')).toThrow(refusal(1_000))
  })

  it('counts the open calls of a key, one by one', () => {
    const admission = open()
    expect(flood(admission, 'greedy')).toBe(80)
    for (let i = 0; i < 30; i++) admission.leave('greedy')
    // 50 of its own; with n more as many as four times what is free then.
    expect(flood(admission, 'greedy')).toBe(30)
    for (let i = 0; i < 79; i++) admission.leave('greedy')
    // One is left, and counts like any other.
    expect(flood(admission, 'greedy')).toBe(79)
  })

  it('forgets keys without calls', () => {
    const admission = open()
    for (let i = 0; i < 1_000; i++) {
      admission.enter(`key ${i}`)
      admission.leave(`key ${i}`)
    }
    expect(admission.stats().inFlight).toBe(0)
    expect(flood(admission, 'a')).toBe(80)
  })
})

describe.each([
  ['an event loop that is late', late],
  ['memory that runs out', full],
])('under pressure of %s', (_name, load) => {
  it(verifies('I8', 'admits fewer calls with every measurement, starting from those in flight'), () => {
    const admission = open({ calls: 1_000 })
    flood(admission, 'a', 200)
    observe(admission, load)
    const { limit } = admission.stats()
    expect(limit).toBeLessThan(200)
    observe(admission, load)
    expect(admission.stats().limit).toBeLessThan(limit)
    for (let i = 0; i < 100; i++) admission.leave('a')
    observe(admission, load)
    expect(admission.stats().limit).toBeLessThan(100)
    expect(flood(admission, 'a')).toBe(0)
  })

  it('never admits fewer than a few calls, whatever the load', () => {
    const admission = open()
    observe(admission, load, 1_000)
    expect(flood(admission, 'a')).toBeGreaterThanOrEqual(6)
  })

  it('says it is overloaded once it lasts, and no longer when it is over', () => {
    const admission = open()
    observe(admission, load, 9)
    expect(admission.stats().overloaded).toBe(false)
    observe(admission, load)
    expect(admission.stats().overloaded).toBe(true)
    observe(admission, calm)
    expect(admission.stats().overloaded).toBe(false)
  })

  it('returns to the configured number within seconds of its end', () => {
    const admission = open()
    observe(admission, load, 50)
    let looks = 0
    while (admission.stats().limit < 100) {
      admission.observe(calm)
      looks++
    }
    expect(looks).toBeLessThan(60)
  })

  it('refuses no call when it is switched off', () => {
    const admission = open({ enabled: false })
    observe(admission, load, 100)
    expect(flood(admission, 'a', 500)).toBe(500)
  })
})

it('sheds the key that floods before others, however long its calls take', () => {
  const admission = open({ calls: 1_000 })
  flood(admission, 'greedy', 200)
  observe(admission, late, 100)
  expect(flood(admission, 'greedy')).toBe(0)
  expect(flood(admission, 'modest')).toBeGreaterThanOrEqual(1)
})

it(verifies('I9', 'admits no call while memory runs out and calls are in flight'), () => {
  const admission = open({ calls: 1_000 })
  flood(admission, 'greedy', 200)
  observe(admission, full, 100)
  expect(flood(admission, 'modest')).toBe(0)
})

it('keeps its limit between calm and pressure', () => {
  const admission = open()
  observe(admission, late, 50)
  const { limit } = admission.stats()
  observe(admission, { delayMs: 80, memoryShare: 0.3 }, 20)
  expect(admission.stats().limit).toBe(limit)
})

it('lets fewer calls in while large answers wait for memory', () => {
  let now = 0
  const limits = { calls: 1_000, enabled: true, eventLoopDelayMs: 100, memoryShare: 0.9 }
  const admission = new Admission(
    () => limits,
    () => 0,
    () => now,
  )
  flood(admission, 'a', 200)
  const holds = [1, 2].map(() => admission.holdAnswer(new AbortController().signal))
  for (const hold of holds) void hold.add(1_000_000)
  observe(admission, calm, 10)
  expect(admission.stats().limit).toBe(1_000)
  now = 1_001
  observe(admission, calm, 20)
  expect(admission.stats()).toMatchObject({ overloaded: true, limit: 140 })
  for (const hold of holds) hold.release()
  observe(admission, calm, 100)
  expect(admission.stats()).toMatchObject({ overloaded: false, limit: 1_000 })
})

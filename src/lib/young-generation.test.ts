import { describe, expect, it } from 'vitest'
import { holdYoungGeneration, type Collector } from './young-generation.ts'

const MB = 1024 * 1024

/** A fake collector whose space grows by the factor at each collection. */
function fakeCollector(startMb: number) {
  const factors: number[] = []
  let size = startMb * MB
  let listener: ((atMs: number) => void) | undefined
  const collector: Collector = {
    size: () => size,
    setGrowth: (factor) => void factors.push(factor),
    observe: (onCollection) => {
      listener = onCollection
      return () => (listener = undefined)
    },
  }
  return {
    collector,
    factors,
    get watched() {
      return listener !== undefined
    },
    collect(atMs: number) {
      size *= factors.at(-1) ?? 2
      listener?.(atMs)
    },
    /** A collection that is reported in the next turn of the event loop. */
    collectUnheard() {
      size *= factors.at(-1) ?? 2
    },
    get sizeMb() {
      return size / MB
    },
  }
}

const OPTIONS = { heldBytes: 16 * MB, busyPerSecond: 5, busySeconds: 2 }

describe('the young generation', () => {
  it('does not grow while the process starts, then grows up to its limit', () => {
    const fake = fakeCollector(1)
    holdYoungGeneration(fake.collector, OPTIONS)
    expect(fake.factors).toEqual([1])
    for (const atMs of [10, 900, 5_000, 90_000]) fake.collect(atMs)
    expect(fake.factors).toEqual([1, 4, 2, 1])
    expect(fake.sizeMb).toBe(8)
  })

  it.each([1, 2, 3, 4, 8, 16])('never grows beyond the limit from %d MB, when two collections happen before they are reported', (startMb) => {
    const fake = fakeCollector(startMb)
    holdYoungGeneration(fake.collector, OPTIONS)
    for (const atMs of [10, 2_000, 4_000, 6_000]) {
      fake.collectUnheard()
      fake.collect(atMs)
      expect(fake.sizeMb).toBeLessThanOrEqual(16)
    }
  })

  it('is not grown when it is large enough already', () => {
    const fake = fakeCollector(32)
    holdYoungGeneration(fake.collector, OPTIONS)
    fake.collect(10)
    expect(fake.factors).toEqual([1])
  })

  it('stays limited through a burst', () => {
    const fake = fakeCollector(16)
    holdYoungGeneration(fake.collector, OPTIONS)
    for (let i = 0; i < 50; i++) fake.collect(1_000 + i)
    for (let i = 0; i < 50; i++) fake.collect(9_000 + i)
    fake.collect(20_000)
    expect(fake.factors).toEqual([1])
    expect(fake.watched).toBe(true)
  })

  it('is released under sustained load, and no longer watched', () => {
    const fake = fakeCollector(16)
    holdYoungGeneration(fake.collector, OPTIONS)
    for (const second of [1, 2, 3]) for (let i = 0; i < 5; i++) fake.collect(second * 1_000 + i)
    expect(fake.factors).toEqual([1, 2])
    expect(fake.watched).toBe(false)
  })

  it('counts the collections of a smaller space for what they collect', () => {
    const fake = fakeCollector(8)
    holdYoungGeneration(fake.collector, OPTIONS)
    for (const second of [1, 2, 3, 4, 5]) for (let i = 0; i < 9; i++) fake.collect(second * 1_000 + i)
    expect(fake.watched).toBe(true)
    for (const second of [6, 7, 8]) for (let i = 0; i < 10; i++) fake.collect(second * 1_000 + i)
    expect(fake.watched).toBe(false)
  })

  it('ends the watch when asked', () => {
    const fake = fakeCollector(2)
    holdYoungGeneration(fake.collector, OPTIONS)()
    expect(fake.watched).toBe(false)
  })
})

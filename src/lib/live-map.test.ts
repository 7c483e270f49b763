import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LiveMap, LiveSet } from './live-map.ts'

const boxed = (value: number): { readonly value: number } => ({ value })

describe('LiveMap', () => {
  it('is a map', () => {
    const step = fc.record({ set: fc.boolean(), key: fc.integer({ min: 0, max: 8 }), value: fc.integer() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const ours = new LiveMap<number, { readonly value: number }>()
        const model = new Map<number, number>()
        for (const { set, key, value } of steps) {
          if (set) {
            // A key that is set again becomes the youngest.
            model.delete(key)
            model.set(key, value)
            ours.set(key, boxed(value))
          } else expect(ours.delete(key)).toBe(model.delete(key))
          expect(ours.get(key)?.value).toBe(model.get(key))
          expect(ours.size).toBe(model.size)
          expect([...ours.values()].map((box) => box.value)).toEqual([...model.values()])
        }
      }),
    )
  })

  it('may be changed during iteration', () => {
    const map = new LiveMap<number, { readonly value: number }>()
    for (const n of [1, 2, 3, 4]) map.set(n, boxed(n))
    const seen: number[] = []
    for (const { value } of map.values()) {
      seen.push(value)
      map.delete(value)
      map.delete(value + 1)
    }
    expect(seen).toEqual([1, 3])
    expect(map.size).toBe(0)
  })

  // In a separate process, so that only this test causes its collections.
  it('keeps no reference to removed entries, for minor garbage collections either', () => {
    const script = `
      import { getHeapSpaceStatistics } from 'node:v8'
      import { LiveMap } from ${JSON.stringify(new URL('live-map.ts', import.meta.url).href)}
      const map = new LiveMap()
      const old = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space').space_used_size
      let most = 0
      let before = 0
      for (let turn = 0, n = 0; turn < 1_000; turn++) {
        for (let i = 0; i < 200; i++, n++) {
          map.set('id-' + n, { words: new Array(200).fill(n) })
          map.delete('id-' + (n - 32))
        }
        if (turn === 300) before = old()
        if (turn > 300) most = Math.max(most, old() - before)
      }
      console.log(most / 2 ** 20)`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8', timeout: 30_000 })
    expect(stderr).toBe('')
    // Of 220 MB only keys and cells may remain, about 100 bytes each. With V8's own map more than 50 MB remained.
    expect(Number(stdout)).toBeLessThan(30)
  })
})

describe('LiveSet', () => {
  it('gives each value a place, and the same value may be added twice', () => {
    const set = new LiveSet<{ readonly value: number }>()
    const thing = boxed(1)
    const first = set.add(thing)
    const second = set.add(thing)
    expect([set.size, [...set]]).toEqual([2, [thing, thing]])
    set.delete(first, thing)
    set.delete(first, thing)
    expect([set.size, [...set]]).toEqual([1, [thing]])
    set.delete(second, thing)
    expect([set.size, [...set]]).toEqual([0, []])
  })

  it('gives a place again that was given back', () => {
    const set = new LiveSet<{ readonly value: number }>()
    for (let n = 0; n < 100; n++) {
      const thing = boxed(n)
      set.delete(set.add(thing), thing)
    }
    expect(set.add(boxed(0))).toBe(0)
    expect(set.add(boxed(1))).toBe(1)
    expect(set.size).toBe(2)
  })

  it('does not release a place that another value has now', () => {
    const set = new LiveSet<{ readonly value: number }>()
    const [gone, here] = [boxed(1), boxed(2)]
    const place = set.add(gone)
    set.delete(place, gone)
    expect(set.add(here)).toBe(place)
    set.delete(place, gone)
    expect([...set]).toEqual([here])
  })
})

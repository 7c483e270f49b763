import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { columnsOf } from './columns.ts'
import type { Group } from './filter.ts'
import { balancePrice, places, PLACES_PER_MODEL } from './places.ts'

const endpoints = Array.from({ length: 60 }, (_, i) => testEndpoint({ provider: `p${i}` }))
const model = testCatalog(endpoints).find('acme/small')!
const group = { model, columns: columnsOf(model) } as Group

const candidate = fc.record({
  rank: fc.integer({ min: 0, max: 2 }),
  draw: fc.double({ min: 1e-9, max: 1 - 1e-9, noNaN: true }),
  price: fc.constantFrom(0, 0.02, 1, 3, 40),
  pull: fc.constantFrom(0, 0.5, 1, 2),
})

describe('the ranks of rendezvous hashing', () => {
  it('equal those of all keys computed and sorted, although most logarithms are skipped', () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 60 }), (candidates) => {
        places.reset(candidates.length)
        candidates.forEach(({ rank, draw, price, pull }, i) => {
          places.weigh(draw, price, balancePrice(price, pull))
          places.add(rank, i, 0, 0)
        })
        const key = (i: number): number => {
          const { draw, price, pull } = candidates[i]!
          const balance = Math.max(price, 0.01) / pull
          return -Math.log(draw) * balance * balance
        }
        const sorted = candidates
          .map((_, i) => i)
          .sort(
            (a, b) =>
              candidates[a]!.rank - candidates[b]!.rank ||
              (key(a) === key(b) ? 0 : key(a) - key(b)) ||
              candidates[a]!.price - candidates[b]!.price ||
              a - b,
          )
        expect(places.first(group, true).map(({ index }) => index)).toEqual(sorted.slice(0, PLACES_PER_MODEL))
      }),
    )
  })
})

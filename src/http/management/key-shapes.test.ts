import { expect, it } from 'vitest'
import { NOTHING_SPENT } from '../../core/counter.ts'
import { sampleKey } from '../../testing/sample-records.ts'
import { presentKey } from './key-shapes.ts'

it.each([
  [50_000, 49_500.1, 499.9],
  [3, 2.9, 0.1],
  [5, 5.2, 0],
])('what remains of a limit has no rounding errors: %d - %d', (limit, lifetime, remaining) => {
  const key = sampleKey('a'.repeat(64), { settings: { limit } })
  const spend = { usd: { ...NOTHING_SPENT, lifetime }, byokUsd: NOTHING_SPENT }
  expect(presentKey(key, { spend, uses: [], earlier: [] }).limit_remaining).toBe(remaining)
})

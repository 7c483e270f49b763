import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fullJitter, parseRetryAfter } from './backoff.ts'
import { verifies } from '../../e2e/requirements.ts'

describe('fullJitter', () => {
  it('is uniform below a ceiling that doubles and stops at the maximum', () => {
    const options = { baseMs: 1000, maxMs: 900_000 }
    expect([0, 1, 5, 9, 10, 1000].map((n) => fullJitter(n, options, () => 0.5))).toEqual([500, 1000, 16_000, 256_000, 450_000, 450_000])
    expect(fullJitter(3, options, () => 0)).toBe(0)
  })

  it('never leaves its bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 5000 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (attempt, u) => {
        const wait = fullJitter(attempt, { baseMs: 1000, maxMs: 60_000 }, () => u)
        expect(wait >= 0 && wait < 60_000).toBe(true)
      }),
    )
  })
})

describe(verifies('C29', 'parseRetryAfter'), () => {
  const now = Date.UTC(2026, 0, 15, 10, 0, 0)
  it.each([
    ['5', 5000],
    ['0', 0],
    [' 1.5 ', 1500],
    ['Thu, 15 Jan 2026 10:00:07 GMT', 7000],
    ['Thu, 15 Jan 2026 09:00:00 GMT', 0],
    ['999999', 3_600_000],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (value, expected) => expect(parseRetryAfter(value, now)).toBe(expected))
})

import { expect, it } from 'vitest'
import { fewRandomBytes } from './random-bytes.ts'

it('gives as many as asked for, never the same twice, across the blocks it draws them from', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 5_000; i++) {
    const bytes = fewRandomBytes(12)
    expect(bytes).toHaveLength(12)
    seen.add(bytes.toString('hex'))
  }
  expect(seen.size).toBe(5_000)
})

it('uses every byte there is', () => {
  const counts = new Uint32Array(256)
  for (let i = 0; i < 10_000; i++) for (const byte of fewRandomBytes(16)) counts[byte]!++
  // Each byte occurs 625 times on average. One that never occurs, or twice as often, is not a coincidence.
  expect(Math.min(...counts)).toBeGreaterThan(400)
  expect(Math.max(...counts)).toBeLessThan(900)
})

it('gives bytes that later calls do not change', () => {
  const first = fewRandomBytes(12)
  const before = first.toString('hex')
  for (let i = 0; i < 1_000; i++) fewRandomBytes(12)
  expect(first.toString('hex')).toBe(before)
})

it('refuses requests for many bytes', () => {
  expect(() => fewRandomBytes(257)).toThrow(RangeError)
})

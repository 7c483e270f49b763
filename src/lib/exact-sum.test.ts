import { describe, expect, it } from 'vitest'
import { ExactSum } from './exact-sum.ts'

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum.add(value), new ExactSum()).value

describe('a sum of amounts', () => {
  it('has no error that grows with their number', () => {
    expect(sumOf(Array.from({ length: 100_000 }, () => 0.1))).toBe(10_000)
    expect(sumOf([33_247, ...Array.from({ length: 100_000 }, () => 0.000_001_234)])).toBe(33_247.1234)
    expect(sumOf([1e16, 1, -1e16])).toBe(1)
  })

  it('goes on from a sum that was kept in two parts', () => {
    const { sum, rest } = new ExactSum().add(1e16).add(1)
    expect(new ExactSum(sum, rest).add(-1e16).value).toBe(1)
  })
})

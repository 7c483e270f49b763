import { describe, expect, it } from 'vitest'
import { median, percentile } from './statistics.ts'

describe('statistics', () => {
  it('takes percentiles by the nearest rank', () => {
    const values = [5, 1, 4, 2, 3]
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 3, 5, 5])
    expect(percentile([], 0.5)).toBeNaN()
  })

  it('takes the median of odd and even numbers of values and leaves gaps out', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, Number.NaN, 2, 3])).toBe(2.5)
    expect(median([])).toBeNaN()
  })
})

import { describe, expect, it, test } from 'vitest'
import { changeShown, compare } from './comparison.ts'

const calls = (...figures: readonly number[]) => figures.map((figure) => ({ calls: figure, spent: 0, ownKeys: 0, tokensIn: 0, tokensOut: 0 }))
const of = (totals: { readonly calls: number }): number => totals.calls

describe('a figure', () => {
  it('of today is compared with the mean of the days since the first call, without today', () => {
    expect(compare(calls(0, 0, 10, 0, 20, 5), of)).toMatchObject({ today: 5, all: 35, ofUsualDay: 0.5 })
  })

  it('is compared with nothing on the first day', () => {
    expect(compare(calls(0, 0, 3), of)).toEqual({ today: 3, all: 3, ofUsualDay: undefined, weekChange: undefined })
  })

  it('of the last seven whole days is compared with that of the seven before', () => {
    const [before, last] = [Array.from({ length: 7 }, () => 10), Array.from({ length: 7 }, () => 15)]
    expect(compare(calls(999, ...before, ...last, 1_000), of).weekChange).toBe(0.5)
    expect(compare(calls(999, ...last, ...before, 1_000), of).weekChange).toBeCloseTo(-1 / 3)
    expect(compare(calls(999, 0, 0, 0, 0, 0, 0, 0, ...last, 0), of).weekChange).toBeUndefined()
  })
})

test.each([
  [0.123, '▲ 12 %'],
  [-0.5, '▼ 50 %'],
  [12.5, '▲ 1,250 %'],
  [0.001, 'no change'],
  [-0.001, 'no change'],
])('a change of %s is shown as %s', (change, shown) => {
  expect(changeShown(change)).toBe(shown)
})

import { expect, test } from 'vitest'
import { NOTHING } from './format.ts'
import { perMillion, priceShown } from './price.ts'

test.each([
  ['0.0000025', 2.5],
  ['0.000000075', 0.075],
  ['0.0000011', 1.1],
  ['0', 0],
  ['-1', undefined],
  ['', undefined],
  [undefined, undefined],
  ['free', undefined],
])('%s USD per token are %s per million', (perToken, expected) => {
  expect(perMillion(perToken)).toBe(expected)
})

test.each([
  [2.5, '$2.50'],
  [0.075, '$0.075'],
  [0.1234, '$0.1234'],
  [15, '$15.00'],
  [1_200, '$1,200.00'],
  [0.0000005, '$0.0000005'],
  [0, '$0'],
  [undefined, NOTHING],
])('a price of %s is shown as %s', (price, shown) => {
  expect(priceShown(price)).toBe(shown)
})

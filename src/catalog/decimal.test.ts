import fc from 'fast-check'
import { expect, test } from 'vitest'
import { perToken, perUnit } from './decimal.ts'

test.each([
  [1.25, '0.00000125'],
  [0.1, '0.0000001'],
  [10, '0.00001'],
  [0, '0'],
  [1_000_000, '1'],
  [1_500_000, '1.5'],
  [0.0028, '0.0000000028'],
  [3e-7, '0.0000000000003'],
  [0.08333333333333334, '0.00000008333333333333334'],
])('%d USD per million tokens is %s per token', (price, text) => expect(perToken(price)).toBe(text))

test.each([
  [0.01, '0.01'],
  [0, '0'],
  [12, '12'],
  [1e-7, '0.0000001'],
])('%d per unit is %s', (price, text) => expect(perUnit(price)).toBe(text))

test('a price survives conversion to a decimal string and back', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e6, noNaN: true }).filter((price) => price === 0 || price > 1e-9),
      (price) => {
        expect(perToken(price)).toMatch(/^\d+(\.\d+)?$/)
        expect(Number(perToken(price)) * 1e6).toBeCloseTo(price, 9)
      },
    ),
  )
})

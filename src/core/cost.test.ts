import { describe, expect, it } from 'vitest'
import { addCost, gatewayShare, NO_COST, roundCost, roundUsd } from './cost.ts'

describe('money as it is shown', () => {
  it.each([
    [0.0000123 + 0.0000323, '0.0000446'],
    [1.1 * 1.1, '1.21'],
    [0.1 + 0.2, '0.3'],
    [0.3 - 0.1 - 0.2, '0'],
    [1e-9 * 3, '3e-9'],
    [1e-11, '1e-11'],
    [123.456789012345, '123.456789012345'],
    [0, '0'],
  ])('has no dust of binary fractions: %d', (usd, shown) => {
    expect(JSON.stringify(Math.abs(roundUsd(usd)))).toBe(shown)
  })
  it('is rounded in all its parts, and exact where it is added up', () => {
    const part = { ...NO_COST, total: 0.1, input: 0.1, byok: 0.1, extras: { search: 0.1 } }
    const sum = addCost(addCost(part, part), part)
    expect(sum.total).toBe(0.1 + 0.1 + 0.1)
    expect(roundCost(sum)).toEqual({ ...NO_COST, total: 0.3, input: 0.3, byok: 0.3, extras: { search: 0.3 } })
    expect(gatewayShare(sum)).toBe(0)
  })
})

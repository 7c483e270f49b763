import { describe, expect, it } from 'vitest'
import { addCost, byOwnKey, gatewayShare, NO_COST, roundCost, roundedRest, roundUsd, withExtra } from './cost.ts'

describe('amounts as they are shown', () => {
  it.each([
    [0.0000123 + 0.0000323, '0.0000446'],
    [1.1 * 1.1, '1.21'],
    [0.1 + 0.2, '0.3'],
    [0.3 - 0.1 - 0.2, '0'],
    [1e-9 * 3, '3e-9'],
    [1e-11, '1e-11'],
    [123.456789012345, '123.456789012345'],
    [33_247.784_745 + 1e-11, '33247.784745'],
    [1_234_567.891 - 1e-9, '1234567.891'],
    [0, '0'],
  ])('have no rounding errors of binary fractions: %d', (usd, shown) => {
    expect(JSON.stringify(Math.abs(roundUsd(usd)))).toBe(shown)
  })
  it.each([
    [50_000, 49_500.1, '499.9'],
    [33_247.784_745, 33_247.784_744, '0.000001'],
    [3, 2.9, '0.1'],
    [5, 5.000_000_1, '-1e-7'],
    [1e300, 5, '1e+300'],
  ])('have none either where they are what is left of an amount: %d - %d', (all, taken, shown) => {
    expect(JSON.stringify(roundedRest(all, taken))).toBe(shown)
  })
  it('are rounded in all parts, and exact where they are added up', () => {
    const part = { ...NO_COST, total: 0.1, input: 0.1, byok: 0.1, extras: { search: 0.1 } }
    const sum = addCost(addCost(part, part), part)
    expect(sum.total).toBe(0.1 + 0.1 + 0.1)
    expect(roundCost(sum)).toEqual({ ...NO_COST, total: 0.3, input: 0.3, byok: 0.3, extras: { search: 0.3 } })
    expect(gatewayShare(sum)).toBe(0)
  })
})

describe('the cost of several calls', () => {
  const tokens = { ...NO_COST, total: 3, input: 1, output: 2 }

  it('is added part by part, separately for own provider keys', () => {
    const own = byOwnKey({ ...tokens, cacheDiscount: 0.5, extras: { search: 1 } })
    const sum = { total: 6, input: 2, output: 4, cacheDiscount: 0.5, extras: { search: 1 }, byok: 3, source: 'catalog' }
    expect(addCost(own, tokens)).toEqual(sum)
    expect(addCost(tokens, own)).toEqual(sum)
    expect(addCost(own, { ...own, extras: { search: 2, fetch: 1 } })).toMatchObject({ byok: 6, extras: { search: 3, fetch: 1 } })
    expect(addCost(tokens, tokens)).toEqual({ ...NO_COST, total: 6, input: 2, output: 4 })
    expect(gatewayShare(addCost(own, tokens))).toBe(3)
  })

  it.each([
    ['catalog', 'catalog', 'catalog'],
    ['catalog', 'upstream', 'upstream'],
    ['upstream', 'unknown', 'unknown'],
    ['catalog', 'unknown', 'unknown'],
  ] as const)('is known as little as its least known part: %s and %s are %s', (one, other, sum) => {
    expect(addCost({ ...tokens, source: one }, { ...tokens, source: other }).source).toBe(sum)
    expect(addCost({ ...tokens, source: other }, { ...tokens, source: one }).source).toBe(sum)
  })

  it('includes the cost of a tool under its name', () => {
    const searched = withExtra(tokens, 'search', 0.5)
    expect(searched).toEqual({ ...tokens, total: 3.5, extras: { search: 0.5 } })
    expect(withExtra(withExtra(searched, 'search', 0.5), 'fetch', 1)).toEqual({ ...tokens, total: 5, extras: { search: 1, fetch: 1 } })
    expect(withExtra(tokens, 'search', 0)).toEqual(tokens)
  })

  it('is unknown if a tool asked a model whose price nobody knows', () => {
    expect(withExtra(tokens, 'subagent', 0, 0, 'unknown')).toEqual({ ...tokens, source: 'unknown' })
    expect(withExtra(tokens, 'subagent', 2, 1, 'unknown')).toMatchObject({ total: 5, byok: 1, extras: { subagent: 2 }, source: 'unknown' })
    expect(withExtra({ ...tokens, source: 'upstream' }, 'subagent', 2, 0, 'catalog').source).toBe('upstream')
  })

  it('includes what a tool charged to the caller’s own account', () => {
    expect(withExtra(byOwnKey(tokens), 'search', 0.5)).toMatchObject({ total: 3.5, byok: 3 })
    expect(withExtra(byOwnKey(tokens), 'fusion', 2, 1)).toMatchObject({ total: 5, byok: 4 })
    expect(withExtra(tokens, 'fusion', 2, 1)).toMatchObject({ total: 5, byok: 1 })
    expect(byOwnKey(NO_COST)).toEqual(NO_COST)
  })
})

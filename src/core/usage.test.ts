import { describe, expect, it } from 'vitest'
import { addUsage, createUsage, mendEstimate } from './usage.ts'

describe('a reported cost', () => {
  it('is the one of the upstream, unless it is impossibly high or negative', () => {
    expect(createUsage({ reportedCost: 0 }).reportedCost).toBe(0)
    expect(createUsage({ reportedCost: 12.5 }).reportedCost).toBe(12.5)
    for (const reportedCost of [1.7e308, Infinity, Number.NaN, -1, 2e6]) expect(createUsage({ reportedCost })).not.toHaveProperty('reportedCost')
  })

  it('stays a number in every sum', () => {
    let sum = createUsage({ reportedCost: 1e6 })
    for (let i = 0; i < 10; i++) sum = addUsage(sum, createUsage({ reportedCost: 1e6 }))
    expect(sum.reportedCost).toBe(1e6)
  })
})

it('an impossible price factor counts as none', () => {
  expect(createUsage({ priceFactor: 2 }).priceFactor).toBe(2)
  for (const priceFactor of [1e300, 0, -2, Infinity, 1]) expect(createUsage({ priceFactor })).not.toHaveProperty('priceFactor')
})

it('impossible counts of tool uses count as none, in sums as well', () => {
  for (const uses of [1.7e308, Infinity, Number.NaN, -3]) {
    const usage = createUsage({ serverToolUse: { web_search: uses, web_fetch: 2 } })
    expect(addUsage(usage, usage).serverToolUse).toEqual({ web_search: 0, web_fetch: 4 })
  }
})

it('counters of tools that a server makes up without end are left out', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`tool_${n}`, 1]))
  expect(Object.keys(createUsage({ serverToolUse: many }).serverToolUse ?? {})).toHaveLength(64)
  expect(createUsage({ serverToolUse: { web_search: 1, ['x'.repeat(1_000_000)]: 1 } }).serverToolUse).toEqual({ web_search: 1 })
})

describe('the usage of several calls', () => {
  it('has billed tokens, which are the counted ones unless reported otherwise', () => {
    const seen = createUsage({ inputTokens: 10, outputTokens: 20 })
    const charged = createUsage({ inputTokens: 10, outputTokens: 20, billed: { inputTokens: 1, outputTokens: 2 } })
    expect(addUsage(seen, charged).billed).toEqual({ inputTokens: 11, outputTokens: 22 })
    expect(addUsage(charged, seen).billed).toEqual({ inputTokens: 11, outputTokens: 22 })
    expect(addUsage(charged, charged).billed).toEqual({ inputTokens: 2, outputTokens: 4 })
    expect(addUsage(seen, seen)).not.toHaveProperty('billed')
  })

  it('has a mean factor by tokens, of those without one as well', () => {
    const plain = createUsage({ inputTokens: 30, outputTokens: 30 })
    const double = createUsage({ inputTokens: 20, priceFactor: 2 })
    expect(addUsage(plain, double).priceFactor).toBe(1.25)
    expect(addUsage(double, plain).priceFactor).toBe(1.25)
    expect(addUsage(double, double).priceFactor).toBe(2)
    expect(addUsage(plain, plain)).not.toHaveProperty('priceFactor')
    expect(addUsage(createUsage({}), createUsage({ priceFactor: 2 }))).not.toHaveProperty('priceFactor')
  })

  it('keeps a reported cost of either', () => {
    const reported = createUsage({ outputTokens: 1, reportedCost: 0.5 })
    expect(addUsage(reported, createUsage({})).reportedCost).toBe(0.5)
    expect(addUsage(createUsage({}), reported).reportedCost).toBe(0.5)
  })
})

describe('mendEstimate', () => {
  const estimate = createUsage({ inputTokens: 100, outputTokens: 40, reasoningTokens: 10, estimated: true })
  it('leaves an estimate as it is when nothing was counted', () => {
    expect(mendEstimate(estimate, undefined)).toBe(estimate)
  })
  it('takes the reported prompt tokens, and the larger of both counts of the answer', () => {
    const counted = createUsage({ inputTokens: 90, cachedTokens: 80, outputTokens: 30, reasoningTokens: 20, priceFactor: 6, reportedCost: 1 })
    expect(mendEstimate(estimate, counted)).toEqual(
      createUsage({ inputTokens: 90, cachedTokens: 80, outputTokens: 40, reasoningTokens: 20, priceFactor: 6, estimated: true }),
    )
  })
  it('keeps the estimate of a prompt that was not counted', () => {
    expect(mendEstimate(estimate, createUsage({ outputTokens: 60 }))).toMatchObject({ inputTokens: 100, outputTokens: 60 })
  })
  it('keeps the pictures of an answer of which only the prompt was counted', () => {
    const drawn = createUsage({ inputTokens: 100, outputTokens: 1_300, imageOutputTokens: 1_290, estimated: true })
    expect(mendEstimate(drawn, createUsage({ inputTokens: 90 }))).toMatchObject({ inputTokens: 90, outputTokens: 1_300, imageOutputTokens: 1_290 })
    expect(mendEstimate(drawn, createUsage({ outputTokens: 2_600, imageOutputTokens: 2_580 }))).toMatchObject({ imageOutputTokens: 2_580 })
  })
})

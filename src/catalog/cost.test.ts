import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pricingOn, announcedAt, type Pricing } from '../core/pricing.ts'
import { addUsage, createUsage, mendEstimate, ZERO_USAGE, type Usage } from '../core/usage.ts'
import { priceAt } from '../router/columns.ts'
import { computeCost } from './cost.ts'
import { verifies } from '../../e2e/requirements.ts'

const PRICES: Pricing = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 }
const million = (parts: Parameters<typeof createUsage>[0]) => createUsage(parts)

describe('the cost of an answer', () => {
  test('input and output at their prices', () => {
    expect(computeCost(million({ inputTokens: 1_000_000, outputTokens: 100_000 }), PRICES)).toEqual({
      total: 4.5,
      input: 3,
      output: 1.5,
      cacheDiscount: 0,
      source: 'catalog',
    })
  })

  test('cache reads and both kinds of writes have prices of their own', () => {
    const usage = million({ inputTokens: 1_000_000, cachedTokens: 400_000, cacheWriteTokens: 500_000, cacheWrite1hTokens: 100_000 })
    const cost = computeCost(usage, PRICES)
    expect(cost.input).toBeCloseTo(0.1 * 3 + 0.4 * 0.3 + 0.4 * 3.75 + 0.1 * 6, 12)
    expect(cost.cacheDiscount).toBeCloseTo(0.9 * 3 - (0.4 * 0.3 + 0.4 * 3.75 + 0.1 * 6), 12)
  })

  test('where the vendor reports billed tokens, those are priced and not the tokens the model saw', () => {
    const usage = million({
      inputTokens: 1_500_000,
      cachedTokens: 1_400_000,
      outputTokens: 200_000,
      billed: { inputTokens: 100_000, outputTokens: 150_000 },
    })
    expect(computeCost(usage, PRICES)).toMatchObject({ input: 0.3, output: 2.25, cacheDiscount: 0, source: 'catalog' })
    const twice = addUsage(usage, million({ inputTokens: 1_000_000 }))
    expect(twice.billed).toEqual({ inputTokens: 1_100_000, outputTokens: 150_000 })
    expect(addUsage(ZERO_USAGE, ZERO_USAGE).billed).toBeUndefined()
  })

  test('a missing cache price is the input price, a missing hour price the price of writes', () => {
    const usage = million({ inputTokens: 1_000_000, cachedTokens: 300_000, cacheWriteTokens: 300_000, cacheWrite1hTokens: 300_000 })
    expect(computeCost(usage, { input: 2, output: 1 })).toMatchObject({ input: 2, cacheDiscount: 0 })
    expect(computeCost(usage, { input: 2, output: 1, cacheWrite: 4 }).input).toBeCloseTo(0.7 * 2 + 0.3 * 4, 12)
  })

  test('audio input has its price where one is known', () => {
    const usage = million({ inputTokens: 1_000_000, audioInputTokens: 250_000 })
    expect(computeCost(usage, { input: 2, output: 1, inputAudio: 10 }).input).toBeCloseTo(0.75 * 2 + 0.25 * 10, 12)
    expect(computeCost(usage, { input: 2, output: 1 }).input).toBe(2)
  })

  test('pictures in a prompt have their price where one is known', () => {
    const usage = million({ inputTokens: 1_000_000, imageInputTokens: 250_000 })
    expect(computeCost(usage, { input: 2, inputImage: 10 }).input).toBeCloseTo(0.75 * 2 + 0.25 * 10, 12)
    expect(computeCost(addUsage(usage, usage), { input: 2, inputImage: 10 }).input).toBeCloseTo(1.5 * 2 + 0.5 * 10, 12)
    expect(computeCost(usage, { input: 2 }).input).toBe(2)
    const beside = million({ inputTokens: 1_000_000, audioInputTokens: 900_000, imageInputTokens: 900_000 })
    expect(computeCost(beside, { input: 2, inputAudio: 3, inputImage: 10 }).input).toBeCloseTo(0.9 * 3 + 0.1 * 10, 12)
  })

  test('audio that was read from a cache is charged once as cached audio, and the text beside it as text', () => {
    const usage = million({ inputTokens: 1_000_000, cachedTokens: 400_000, audioInputTokens: 500_000, cachedAudioTokens: 400_000 })
    const pricing = { input: 2, output: 1, cacheRead: 0.5, inputAudio: 10 }
    expect(computeCost(usage, pricing).input).toBeCloseTo(0.5 * 2 + 0.1 * 10 + 0.4 * 0.5, 12)
    expect(computeCost(addUsage(usage, usage), pricing).input).toBeCloseTo(2 * (0.5 * 2 + 0.1 * 10 + 0.4 * 0.5), 12)
    expect(million({ inputTokens: 5, cachedTokens: 3, audioInputTokens: 2, cachedAudioTokens: 9 }).cachedAudioTokens).toBe(2)
  })

  test('audio that was read from a cache without any price costs what audio does, not what text does', () => {
    const usage = million({ inputTokens: 1_000_000, cachedTokens: 600_000, audioInputTokens: 500_000, cachedAudioTokens: 400_000 })
    expect(computeCost(usage, { input: 2, output: 1, inputAudio: 10 })).toMatchObject({ input: 0.5 * 2 + 0.5 * 10, cacheDiscount: 0 })
  })

  test('audio that was read from a cache has a price of its own where one is known', () => {
    const usage = million({ inputTokens: 1_000_000, cachedTokens: 600_000, audioInputTokens: 500_000, cachedAudioTokens: 400_000 })
    const cost = computeCost(usage, { input: 2, output: 1, cacheRead: 0.5, inputAudio: 10, cacheReadAudio: 1 })
    expect(cost.input).toBeCloseTo(0.3 * 2 + 0.1 * 10 + 0.2 * 0.5 + 0.4 * 1, 12)
    expect(cost.cacheDiscount).toBeCloseTo(0.2 * (2 - 0.5) + 0.4 * (10 - 1), 12)
  })

  test('pictures have the price of their tokens where one is known, beside the text', () => {
    const usage = million({ inputTokens: 0, outputTokens: 1_000_000, imageOutputTokens: 600_000 })
    expect(computeCost(usage, { input: 1, output: 2, outputImage: 30 }).output).toBeCloseTo(0.4 * 2 + 0.6 * 30, 12)
    expect(computeCost(usage, { input: 1, output: 2 }).output).toBe(2)
    const tiered = { input: 1, output: 2, outputImage: 30, tiers: [{ fromInputTokens: 1, output: 4 }] }
    expect(computeCost({ ...usage, inputTokens: 1 }, tiered).output).toBeCloseTo(0.4 * 4 + 0.6 * 30, 12)
    expect(computeCost({ ...usage, imageOutputTokens: 5_000_000 }, { input: 1, output: 2, outputImage: 30 }).output).toBe(30)
  })

  test.each([
    [199_999, 0.199999 * 3],
    [200_000, 0.2 * 3],
    [200_001, 0.200001 * 6],
    [500_001, 0.500001 * 9],
  ])('the highest tier reached counts: %d tokens', (inputTokens, expected) => {
    const tiers = [
      { fromInputTokens: 500_001, input: 9 },
      { fromInputTokens: 200_001, input: 6 },
    ]
    expect(computeCost(million({ inputTokens }), { ...PRICES, tiers }).input).toBeCloseTo(expected, 12)
  })

  test.each([
    ['2026-01-01T02:00:00Z', 2],
    ['2026-01-01T04:00:00Z', 1],
    ['2026-01-01T23:30:00Z', 4],
    ['2026-01-02T00:10:00Z', 4],
  ])('the hour counts where prices name one: %s', (at, input) => {
    const windows = [
      { from: 3_600, to: 14_400, input: 2, output: 2 },
      { from: 84_600, to: 1_800, input: 4, output: 4 },
    ]
    expect(computeCost(million({ inputTokens: 1_000_000 }), { input: 1, output: 1, windows }, {}, Date.parse(at)).input).toBe(input)
  })

  test.each([
    ['2026-12-31T23:59:00Z', 6, 6],
    ['2027-01-01T00:00:00Z', 2, 4],
    ['2027-01-01T12:00:00Z', 3, 4],
    ['2028-01-01T00:00:00Z', 1, 1],
  ])('prices announced for a day end the tiers before them, and bring their own: %s', (day, input, large) => {
    const dated = (since: string, price: number) => ({ from: 0, to: 86_400, since: Date.parse(since), input: price })
    const pricing: Pricing = {
      input: 5,
      tiers: [{ fromInputTokens: 1, input: 6 }],
      windows: [
        dated('2028-01-01T00:00:00Z', 1),
        { from: 43_200, to: 46_800, input: 3 },
        { ...dated('2027-01-01T00:00:00Z', 2), tiers: [{ fromInputTokens: 2_000_000, input: 4 }] },
      ],
    }
    const at = Date.parse(day)
    for (const [inputTokens, price] of [
      [1_000_000, input],
      [2_000_000, large],
    ] as const) {
      expect(computeCost(million({ inputTokens }), pricing, {}, at).input).toBeCloseTo((inputTokens / 1e6) * price, 12)
      expect(priceAt(pricing, inputTokens, at).input).toBe(price)
    }
    expect(pricingOn(pricing, at).tiers).toEqual((announcedAt(pricing, at) ?? pricing).tiers)
  })

  test('a price that an announced list leaves out ends with the list before it', () => {
    const since = Date.parse('2027-01-01')
    const pricing: Pricing = {
      input: 2,
      output: 8,
      cacheRead: 0.2,
      inputAudio: 9,
      outputImage: 30,
      request: 0.5,
      windows: [{ from: 0, to: 86_400, since, input: 1, output: 4 }],
    }
    const usage = million({
      inputTokens: 2_000_000,
      cachedTokens: 1_000_000,
      audioInputTokens: 500_000,
      outputTokens: 1_000_000,
      imageOutputTokens: 500_000,
    })
    expect(computeCost(usage, pricing, {}, since - 1)).toMatchObject({ input: 0.2 + 1 + 4.5, output: 4 + 15 })
    expect(computeCost(usage, pricing, {}, since)).toMatchObject({ input: 2, output: 4, total: 6.5, cacheDiscount: 0 })
    expect(pricingOn(pricing, since)).toEqual({ input: 1, output: 4, request: 0.5 })
  })

  test('requests, searches and extras are items of the total', () => {
    const usage = million({ inputTokens: 1_000_000, serverToolUse: { web_search: 3 } })
    expect(computeCost(usage, { ...PRICES, request: 0.5, webSearch: 0.01 }, { 'gateway:web_search': 0.2 })).toMatchObject({
      total: 3 + 0.5 + 0.03 + 0.2,
      extras: { request: 0.5, web_search: 0.03, 'gateway:web_search': 0.2 },
    })
  })

  test('an answer that took several requests is charged for each, also where it broke off', () => {
    const usage = million({ inputTokens: 1_000_000, requests: 3 })
    expect(computeCost(usage, { request: 0.5, input: 2 })).toMatchObject({ total: 3.5, input: 2, extras: { request: 1.5 } })
    expect(computeCost(mendEstimate(ZERO_USAGE, usage), { request: 0.5 }).total).toBe(1.5)
    // What is added up otherwise is priced part by part.
    expect(addUsage(usage, usage).requests).toBeUndefined()
  })

  test(verifies('P32', 'the cost that the upstream reports wins, split in the proportions of the prices'), () => {
    const usage = million({ inputTokens: 1_000_000, outputTokens: 200_000, reportedCost: 12 })
    expect(computeCost(usage, { ...PRICES, request: 1 })).toMatchObject({ total: 12, input: 6, output: 6, source: 'upstream' })
    expect(computeCost(usage, {}, { plugin: 1 })).toMatchObject({ total: 13, input: 10, output: 2, extras: { plugin: 1 }, source: 'upstream' })
    expect(computeCost(million({ inputTokens: 5, reportedCost: 0 }), PRICES)).toMatchObject({ total: 0, source: 'upstream' })
  })
})

describe('an unknown cost is reported as unknown', () => {
  const used = million({ inputTokens: 10, outputTokens: 5 })
  test.each<[string, Pricing, 'catalog' | 'unknown']>([
    ['no prices', {}, 'unknown'],
    ['no output price', { input: 1 }, 'unknown'],
    ['no input price', { output: 1 }, 'unknown'],
    ['free of charge', { input: 0, output: 0 }, 'catalog'],
    ['a price per request only', { request: 0.01 }, 'catalog'],
  ])('%s', (_name, pricing, source) => expect(computeCost(used, pricing).source).toBe(source))

  test('an answer without tokens has a known cost of zero if any price is known', () => {
    expect(computeCost(ZERO_USAGE, PRICES)).toMatchObject({ total: 0, source: 'catalog' })
    expect(computeCost(ZERO_USAGE, {}).source).toBe('unknown')
    const drawn = createUsage({ inputTokens: 10, outputTokens: 1, unpriced: true })
    expect([drawn, addUsage(drawn, ZERO_USAGE), mendEstimate(ZERO_USAGE, drawn)].map((one) => computeCost(one, PRICES).source)).toEqual(
      Array(3).fill('unknown'),
    )
  })
  test.each<[string, Pricing, Partial<Usage>, 'catalog' | 'upstream' | 'unknown']>([
    ['at no known price', PRICES, {}, 'unknown'],
    ['at a price of zero', { ...PRICES, webSearch: 0 }, {}, 'catalog'],
    ['which a price per request includes', { ...PRICES, request: 0.01 }, {}, 'catalog'],
    ['which a reported cost includes', PRICES, { reportedCost: 1 }, 'upstream'],
  ])('after a search of the vendor %s', (_name, pricing, more, source) => {
    expect(computeCost({ ...used, serverToolUse: { web_search: 1 }, ...more }, pricing).source).toBe(source)
    expect(computeCost({ ...used, serverToolUse: { web_search: 0, web_fetch: 1 }, ...more }, PRICES).source).toBe(
      more.reportedCost ? 'upstream' : 'catalog',
    )
  })
  test('the price of output may be missing when there is no output', () => {
    expect(computeCost(million({ inputTokens: 10 }), { input: 1 }).source).toBe('catalog')
  })
})

describe('for any usage and any prices', () => {
  const price = fc.double({ min: 0, max: 200, noNaN: true })
  const tokens = fc.integer({ min: 0, max: 2_000_000 })
  const usages = fc
    .record({
      inputTokens: tokens,
      cachedTokens: tokens,
      cacheWriteTokens: tokens,
      cacheWrite1hTokens: tokens,
      outputTokens: tokens,
      audioInputTokens: tokens,
      imageOutputTokens: tokens,
    })
    .map((parts) => createUsage(parts))
  const pricings = fc.record(
    { input: price, output: price, cacheRead: price, cacheWrite: price, cacheWrite1h: price, inputAudio: price, outputImage: price, request: price },
    { requiredKeys: [] },
  )

  test(verifies('P32', 'the total is the sum of its parts and never negative'), () => {
    fc.assert(
      fc.property(usages, pricings, fc.dictionary(fc.string(), price, { maxKeys: 3 }), (usage, pricing, extras) => {
        const cost = computeCost(usage, pricing, extras)
        const items = Object.values(cost.extras ?? {}).reduce((sum, item) => sum + item, 0)
        expect(cost.total).toBeCloseTo(cost.input + cost.output + items, 6)
        expect(Math.min(cost.total, cost.input, cost.output)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('input without caching equals input with it plus the discount', () => {
    fc.assert(
      fc.property(usages, fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price, cacheWrite1h: price }), (usage, pricing) => {
        const cost = computeCost(usage, pricing)
        expect(cost.input + cost.cacheDiscount).toBeCloseTo((usage.inputTokens * pricing.input) / 1e6, 6)
      }),
    )
  })

  test('more output never costs less', () => {
    fc.assert(
      fc.property(usages, pricings, tokens, (usage, pricing, more) => {
        const larger = createUsage({ ...usage, outputTokens: usage.outputTokens + more })
        expect(computeCost(larger, pricing).total).toBeGreaterThanOrEqual(computeCost(usage, pricing).total)
      }),
    )
  })

  test('a reported cost is the total, to the cent', () => {
    fc.assert(
      fc.property(usages, pricings, price, (usage, pricing, reportedCost) => {
        const cost = computeCost(createUsage({ ...usage, reportedCost }), pricing)
        expect(cost.total).toBe(reportedCost)
        expect(cost.input + cost.output).toBeCloseTo(reportedCost, 9)
      }),
    )
  })
})

test('tokens a vendor charges several times its list price for cost that many times, and nothing else does', () => {
  const usage = million({ inputTokens: 1_000_000, cachedTokens: 500_000, outputTokens: 100_000, serverToolUse: { web_search: 2 } })
  const pricing = { ...PRICES, webSearch: 0.01 }
  const plain = computeCost(usage, pricing)
  const fast = computeCost({ ...usage, priceFactor: 6 }, pricing)
  expect([fast.input / plain.input, fast.output / plain.output, fast.cacheDiscount / plain.cacheDiscount]).toEqual(
    [6, 6, 6].map((n) => expect.closeTo(n, 9)),
  )
  expect(fast.extras).toEqual(plain.extras)
  expect(computeCost({ ...usage, priceFactor: 6, reportedCost: 1 }, pricing).total).toBeCloseTo(
    computeCost({ ...usage, reportedCost: 1 }, pricing).total,
    12,
  )
  const both = addUsage({ ...usage, priceFactor: 6 }, usage)
  expect(computeCost(both, pricing).input).toBeCloseTo(fast.input + plain.input, 9)
})

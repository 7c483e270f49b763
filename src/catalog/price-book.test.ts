import { beforeAll, describe, expect, it } from 'vitest'
import { loadPriceBook, type PriceBook } from './price-book.ts'

/** The price data that comes with the gateway, on a day when all of its prices are in force. */
let book: PriceBook
beforeAll(async () => {
  book = await loadPriceBook(Date.UTC(2026, 10, 28))
})

const VENDORS = ['anthropic', 'aws', 'google', 'openrouter'] as const

describe('the price of one hour in the cache', () => {
  it.each(VENDORS)('is known of every Claude whose caches have a price, at %s', (vendor) => {
    const cached = book.models(vendor).filter(({ id, pricing }) => id.includes('claude') && pricing.cacheWrite !== undefined)
    expect(cached.length).toBeGreaterThan(5)
    for (const { id, pricing } of cached) expect([id, pricing.cacheWrite1h]).toEqual([id, pricing.input! * 2])
  })

  it('rises with the price of long prompts', () => {
    const tiered = book.models('google').filter(({ id, pricing }) => id.includes('claude') && pricing.tiers !== undefined)
    expect(tiered.length).toBeGreaterThan(0)
    for (const { id, pricing } of tiered) for (const tier of pricing.tiers!) expect([id, tier.cacheWrite1h]).toEqual([id, tier.input! * 2])
  })

  it('is unknown where no price for an hour is published', () => {
    const others = VENDORS.flatMap((vendor) => book.models(vendor)).filter(({ id }) => !id.includes('claude'))
    expect(others.filter(({ pricing }) => pricing.cacheWrite1h !== undefined)).toEqual([])
  })
})

describe('a model', () => {
  it.each([
    ['google', 'models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['google', 'publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['google', 'google/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['aws', 'arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-1-20250805-v1:0', 'anthropic.claude-opus-4-1-20250805-v1:0'],
    [
      'aws',
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0',
      'us.anthropic.claude-opus-4-1-20250805-v1:0',
    ],
  ])('of %s has its price as %s', (vendor, id, bare) => {
    expect(book.find(vendor, bare)).toBeDefined()
    expect(book.find(vendor, id)).toBe(book.find(vendor, bare))
  })

  it('that makes vectors of pictures has the price of pictures, too', () => {
    const { pricing } = book.embeddings('google').find(({ id }) => id === 'gemini-embedding-2')!
    expect(pricing.inputImage).toBeGreaterThan(pricing.input!)
  })

  it('of somebody else is not taken for it', () => {
    expect(book.find('google', 'projects/p/locations/l/endpoints/gemini-2.5-pro')).toBeUndefined()
    expect(book.find('google', 'somebody/gemini-2.5-pro')).toBeUndefined()
  })
})

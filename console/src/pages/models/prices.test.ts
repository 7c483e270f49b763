import { describe, expect, it } from 'vitest'
import { priceLines } from './prices.ts'

describe('the prices of an endpoint', () => {
  it('are those it has, per million tokens or each', () => {
    expect(priceLines({ prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001', web_search: '0.01', image: '0' })).toEqual([
      { name: 'Input', price: '$1.00 per million' },
      { name: 'Output', price: '$2.00 per million' },
      { name: 'Cache read', price: '$0.10 per million' },
      { name: 'Web search', price: '$0.01 each' },
    ])
  })

  it('are shown as unknown, not as zero', () => {
    expect(priceLines({ prompt: '-1', completion: '0' })).toEqual([
      { name: 'Input', price: 'not known' },
      { name: 'Output', price: '$0 per million' },
    ])
  })

  it('include those of long prompts and of times of day', () => {
    const overrides = [
      { prompt: '0.000002', completion: '0.000004', min_prompt_tokens: 200_000 },
      { completion: '0.000001', utc_start: 1630, utc_end: 30 },
    ]
    expect(priceLines({ prompt: '0', completion: '0', overrides }).slice(2)).toEqual([
      { name: 'Over 200,000 tokens', price: 'input $2.00, output $4.00' },
      { name: '16:30 to 00:30 UTC', price: 'output $1.00' },
    ])
  })
})

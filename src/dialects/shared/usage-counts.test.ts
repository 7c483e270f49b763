import { describe, expect, it } from 'vitest'
import { hasCounts, overlayCounts } from './usage-counts.ts'

describe('a usage report', () => {
  it.each<[string, object, boolean]>([
    ['that is empty counts nothing', {}, false],
    ['of zeros counts nothing', { prompt_tokens: 0, prompt_tokens_details: { cached_tokens: 0 }, total_tokens: null }, false],
    ['with one count counts', { prompt_tokens: 0, completion_tokens: 3 }, true],
    ['with a count inside counts', { tokens: { input_tokens: 2 } }, true],
    ['of words counts nothing', { service_tier: 'standard' }, false],
    ['of more than there can be is as good as none', { prompt_tokens: 1e300, completion_tokens: 5 }, false],
    ['of less than nothing, written as a number without a sign, is as good as none', { prompt_tokens: 2 ** 32 - 1, completion_tokens: 5 }, false],
    ['of more than there can be somewhere inside, too', { input_tokens: 3, details: { cachedTokenCount: 2e12 } }, false],
    ['with other large numbers counts', { prompt_tokens: 3, total_time_ns: 5e12 }, true],
    ['nested without end counts nothing', JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as object, false],
  ])('%s', (_what, usage, counts) => {
    expect(hasCounts(usage as { [field: string]: unknown })).toBe(counts)
  })

  it('is merged over an earlier one, and erases nothing of it', () => {
    const before = { input: 100, output: 1, cache: { short: 50 }, tier: 'standard' }
    expect(overlayCounts(before, { input: 0, output: 7, cache: { short: 0 }, tier: null })).toEqual({ ...before, output: 7 })
    expect(overlayCounts(before, { cache: { short: 20 }, tier: 'batch', extra: 0 })).toEqual({
      ...before,
      cache: { short: 20 },
      tier: 'batch',
      extra: 0,
    })
  })
})

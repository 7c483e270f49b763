import { describe, expect, it } from 'vitest'
import { chatTarget } from './__fixtures__/target.ts'
import { decodeUsage } from './usage.ts'

const { usage: conventions } = chatTarget().options
const counts = { prompt_tokens: 2_000, completion_tokens: 5, total_tokens: 2_005 }

describe('what was written to a cache', () => {
  it.each([
    ['cache_write_tokens', { prompt_tokens_details: { cache_write_tokens: 1_500 } }],
    ['cache_creation_tokens', { prompt_tokens_details: { cache_creation_tokens: 1_500 } }],
    ['cache_creation_input_tokens', { cache_creation_input_tokens: 1_500 }],
    [
      'cache_creation_input_tokens of the prompt',
      { prompt_tokens_details: { cached_tokens: 0, cache_type: 'ephemeral', cache_creation_input_tokens: 1_500 } },
    ],
    ['caching_tokens', { prompt_tokens_details: { cached_tokens: 0, caching_tokens: 1_500 } }],
  ])('is counted as %s', (_name, told) => {
    expect(decodeUsage({ ...counts, ...told }, conventions)).toMatchObject({ inputTokens: 2_000, cachedTokens: 0, cacheWriteTokens: 1_500 })
  })
})

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

  it.each([
    [
      'of the prompt',
      {
        prompt_tokens_details: {
          cache_creation_tokens: 1_500,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1_000 },
        },
      },
    ],
    ['of all', { cache_creation_input_tokens: 1_500, cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1_000 } }],
  ])('for an hour is counted by itself, as it has its own price: in the details %s', (_name, told) => {
    expect(decodeUsage({ ...counts, ...told }, conventions)).toMatchObject({ cacheWriteTokens: 1_500, cacheWrite1hTokens: 1_000 })
  })
})

describe('what went through a cache', () => {
  const counted = (usage: object): unknown => decodeUsage({ ...usage }, conventions)

  it.each([
    [
      'there is more of it than of the prompt',
      { prompt_tokens: 13, completion_tokens: 5, total_tokens: 18, prompt_tokens_details: { cached_tokens: 9_000 } },
    ],
    ['the sum holds both', { prompt_tokens: 13, completion_tokens: 5, total_tokens: 9_018, cache_read_input_tokens: 9_000 }],
  ])('is counted beside the prompt, as relays of Claude do it, where %s', (_name, usage) => {
    expect(counted(usage)).toMatchObject({ inputTokens: 9_013, cachedTokens: 9_000, outputTokens: 5 })
  })

  it('is counted beside it when it is read and written', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 365, cache_read_input_tokens: 200, cache_creation_input_tokens: 60 }
    expect(counted(usage)).toMatchObject({ inputTokens: 360, cachedTokens: 200, cacheWriteTokens: 60 })
  })

  it('is a part of the prompt everywhere else', () => {
    expect(counted({ ...counts, prompt_tokens_details: { cached_tokens: 1_900 } })).toMatchObject({ inputTokens: 2_000, cachedTokens: 1_900 })
  })
})

describe('output that is not reported', () => {
  it('is the difference to the total', () => {
    expect(decodeUsage({ prompt_tokens: 30, total_tokens: 32 }, conventions)).toMatchObject({ inputTokens: 30, outputTokens: 2 })
    expect(decodeUsage({ prompt_tokens: 30 }, conventions)).toMatchObject({ inputTokens: 30, outputTokens: 0 })
  })

  it('is not all of a total that stands alone, most of which is the prompt', () => {
    expect(decodeUsage({ total_tokens: 249 }, conventions)).toMatchObject({ inputTokens: 0, outputTokens: 0 })
  })
})

describe('searches of the server', () => {
  it.each([
    ['of its own accord', { server_tool_use: { web_search_requests: 2 } }],
    ['among the details of the prompt, where relays of other vendors count them', { prompt_tokens_details: { web_search_requests: 2 } }],
    ['in both', { prompt_tokens_details: { web_search_requests: 2 }, server_tool_use: { web_search_requests: 2 } }],
  ])('are counted %s', (_name, told) => {
    expect(decodeUsage({ ...counts, ...told }, conventions).serverToolUse).toEqual({ web_search: 2 })
  })
})

import { describe, expect, it } from 'vitest'
import { readUsage, ToolRuns } from './usage.ts'

/** So many searches, where pictures are charged apart. */
function ran(searches: number): ToolRuns {
  const runs = new ToolRuns(['image_generation'])
  for (let n = 0; n < searches; n++) runs.note({ type: 'web_search_call', action: { type: 'search' } })
  return runs
}

describe('readUsage', () => {
  it('reads the usual spelling', () => {
    const raw = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 150,
    }
    expect(readUsage(raw)).toEqual({
      inputTokens: 100,
      cachedTokens: 40,
      cacheWriteTokens: 10,
      outputTokens: 50,
      reasoningTokens: 20,
      totalTokens: 150,
      raw,
    })
  })

  it('reads how long what was written to a cache is kept', () => {
    const details = { cached_tokens: 0, cache_write_tokens: 30, cache_write_tokens_details: { ttl_12h_tokens: 20, ttl_30m_tokens: 10 } }
    expect(readUsage({ input_tokens: 100, output_tokens: 1, input_tokens_details: details })).toMatchObject({
      cacheWriteTokens: 30,
      cacheWrite1hTokens: 20,
    })
  })

  it('reads the spelling of Chat Completions', () => {
    expect(
      readUsage({
        prompt_tokens: 9,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      }),
    ).toMatchObject({ inputTokens: 9, cachedTokens: 4, outputTokens: 3, reasoningTokens: 1 })
  })

  it('takes null details for absent ones', () => {
    expect(
      readUsage({ input_tokens: 9, output_tokens: 3, input_tokens_details: null, output_tokens_details: { reasoning_tokens: null } }),
    ).toMatchObject({ cachedTokens: 0, reasoningTokens: 0, totalTokens: 12 })
  })

  it.each([
    ['ticks, ten thousand million to the dollar', { cost_in_usd_ticks: 8_171_500 }, 0.00081715],
    ['dollars', { cost: 0.002 }, 0.002],
    ['a fee on top of what our own key pays', { cost: 0.0001, is_byok: true, cost_details: { upstream_inference_cost: 0.002 } }, 0.0021],
    ['dollars that contain the vendor’s price', { cost: 0.002, is_byok: false, cost_details: { upstream_inference_cost: 0.002 } }, 0.002],
  ])('reads a cost in %s', (_, more, cost) => {
    expect(readUsage({ input_tokens: 1, output_tokens: 1, ...more })?.reportedCost).toBeCloseTo(cost, 12)
  })

  it('treats zero ticks as an unmetered account, not as a free call', () => {
    expect(readUsage({ input_tokens: 1, output_tokens: 1, cost_in_usd_ticks: 0 })).not.toHaveProperty('reportedCost')
    expect(readUsage({ input_tokens: 1, output_tokens: 1, cost_in_usd_ticks: 0, cost: 0.002 })?.reportedCost).toBe(0.002)
  })

  it('adds what relays of Claude count beside the prompt', () => {
    const usage = { input_tokens: 13, output_tokens: 5, total_tokens: 18, input_tokens_details: { cached_tokens: 9_000 } }
    expect(readUsage(usage)).toMatchObject({ inputTokens: 9_013, cachedTokens: 9_000, outputTokens: 5 })
  })

  it('takes output that is left out for the rest of the sum', () => {
    expect(readUsage({ input_tokens: 30, total_tokens: 32 })).toMatchObject({ inputTokens: 30, outputTokens: 2 })
  })

  it('has an unknown price where a separately charged tool ran, unless the server reports the total cost', () => {
    const base = { input_tokens: 1, output_tokens: 1 }
    const drawn = ran(0)
    drawn.note({ type: 'image_generation_call' })
    expect(readUsage(base, drawn)).toMatchObject({ unpriced: true })
    expect(readUsage({ ...base, cost: 0.5 }, drawn)).not.toHaveProperty('unpriced')
    const read = ran(0)
    for (const type of ['mcp_call', 'image_generation', 'web_search_call']) read.note({ type })
    expect(readUsage(base, read)).not.toHaveProperty('unpriced')
  })

  it('has an unknown price where a tool ran in an environment that is charged for, and a known one where the caller ran it', () => {
    const base = { input_tokens: 1, output_tokens: 1 }
    const runs = new ToolRuns(['container_reference'])
    for (const environment of [{ type: 'local' }, null, 'browser']) runs.note({ type: 'shell_call', environment })
    expect(readUsage(base, runs)).not.toHaveProperty('unpriced')
    runs.note({ type: 'shell_call', environment: { type: 'container_reference', container_id: 'c' } })
    expect(readUsage(base, runs)).toMatchObject({ unpriced: true })
  })

  it('counts the requests of server-side tools', () => {
    const base = { input_tokens: 1, output_tokens: 1 }
    expect(readUsage({ ...base, server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 0 } })?.serverToolUse).toEqual({
      web_search: 2,
    })
    expect(readUsage({ ...base, server_tool_use_details: { web_search_requests: 3, tool_calls_executed: 3 } }, ran(1))?.serverToolUse).toEqual({
      web_search: 3,
    })
    expect(readUsage(base, ran(2))?.serverToolUse).toEqual({ web_search: 2 })
  })

  it.each([null, undefined, 'x', {}, { total_tokens: 3 }])('says nothing about %j', (value) => {
    expect(readUsage(value)).toBeUndefined()
  })
})

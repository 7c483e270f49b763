import { describe, expect, it } from 'vitest'
import type { Cost } from '../../core/generation.ts'
import { createUsage } from '../../core/usage.ts'
import { decodeResponsesRequest } from './decode-request.ts'
import { byOwnKey } from '../../core/cost.ts'
import { createResource, presentUsage } from './resource.ts'

/** The resource of an answer to this request, serialized and parsed again. */
function answered(asked: { readonly [field: string]: unknown }): unknown {
  const request = decodeResponsesRequest({ model: 'acme/small', input: 'hi', ...asked })
  return JSON.parse(createResource('gen-1', 1_700_000_000, request)({ status: 'in_progress', model: 'acme/small', output: [], outputText: '[]' }))
}

describe('the cost of an answer', () => {
  it('has amounts without rounding errors of their sums', () => {
    const cost: Cost = { total: 1.1 * 1.1, input: 0.1 + 0.2, output: 3e-9, cacheDiscount: 0, source: 'catalog' }
    expect(presentUsage(createUsage({ inputTokens: 1, outputTokens: 1 }), cost, false)).toMatchObject({
      cost: 1.21,
      cost_details: { upstream_inference_cost: null, upstream_inference_input_cost: 0.3, upstream_inference_output_cost: 3e-9 },
    })
    expect(presentUsage(createUsage({ inputTokens: 1, outputTokens: 1 }), byOwnKey(cost), true)).toMatchObject({
      cost: 0,
      cost_details: { upstream_inference_cost: 1.21 },
    })
  })
})

describe('the resource of an answer', () => {
  it('has the actual values where the caller set none', () => {
    expect(answered({})).toEqual({
      id: 'gen-1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'in_progress',
      completed_at: null,
      error: null,
      incomplete_details: null,
      model: 'acme/small',
      output: [],
      output_text: '',
      service_tier: 'default',
      usage: null,
      background: false,
      frequency_penalty: 0,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt: null,
      prompt_cache_options: null,
      prompt_cache_key: null,
      reasoning: null,
      safety_identifier: null,
      store: false,
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      user: null,
    })
  })

  it('echoes what the caller sent', () => {
    const sent = {
      frequency_penalty: 0.5,
      instructions: 'Be brief',
      max_output_tokens: 99,
      max_tool_calls: 4,
      metadata: { team: 'blue' },
      parallel_tool_calls: false,
      presence_penalty: -0.5,
      prompt_cache_key: 'key',
      safety_identifier: 'safe',
      temperature: 0,
      top_logprobs: 3,
      top_p: 0.4,
      truncation: 'auto',
      user: 'u1',
    }
    expect(answered(sent)).toMatchObject(sent)
    expect(answered({ reasoning: { effort: 'low' }, background: true })).toMatchObject({
      reasoning: { effort: 'low', summary: null },
      background: false,
    })
  })
})

describe('the usage of an answer', () => {
  const usage = createUsage({ inputTokens: 5, outputTokens: 3, cacheWriteTokens: 2 })
  const cost: Cost = { total: 3, input: 1, output: 2, cacheDiscount: 0, source: 'catalog' }

  it('contains only counted tools: fetched pages have no counter of their own', () => {
    const counted = (tools: { readonly [tool: string]: number }) => presentUsage(createUsage({ serverToolUse: tools }), undefined, false)
    expect(counted({ web_fetch: 2 })).not.toHaveProperty('server_tool_use_details')
    expect(counted({ web_fetch: 2, web_search: 1 })).toMatchObject({ server_tool_use_details: { web_search_requests: 1 } })
  })

  it('has writes to the cache where there were some', () => {
    expect(presentUsage(usage, cost, false)['input_tokens_details']).toMatchObject({ cache_write_tokens: 2 })
    expect(presentUsage(createUsage({ inputTokens: 5 }), cost, false)['input_tokens_details']).not.toHaveProperty('cache_write_tokens')
  })

  it('separates what an own provider key paid, so that both parts add up', () => {
    expect(presentUsage(usage, byOwnKey(cost), true)).toMatchObject({ is_byok: true, cost: 0, cost_details: { upstream_inference_cost: 3 } })
    expect(presentUsage(usage, { ...cost, byok: 2 }, false)).toMatchObject({ cost: 1, cost_details: { upstream_inference_cost: 2 } })
    expect(presentUsage(usage, byOwnKey({ ...cost, total: 0 }), true)).toMatchObject({ cost: 0, cost_details: { upstream_inference_cost: 0 } })
    expect(presentUsage(usage, cost, false)).toMatchObject({ is_byok: false, cost: 3, cost_details: { upstream_inference_cost: null } })
  })

  it('has no cost where no price is known', () => {
    const unknown = presentUsage(usage, { ...cost, source: 'unknown' }, false)
    expect(unknown['cost']).toBeNull()
    expect(unknown).not.toHaveProperty('cost_details')
  })
})

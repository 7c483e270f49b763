import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { createUsage } from '../../core/usage.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { EmbeddingsFold } from './fold.ts'

type Json = { readonly [field: string]: unknown }
type End = Extract<ModelEvent, { readonly type: 'response-end' }>

function answerOf(end: Partial<End>, { request = {}, ...more }: Partial<Omit<AssemblerOptions, 'request'>> & { readonly request?: Json } = {}): Json {
  const clock = manualClock()
  const facts = () => ({
    model: 'acme/embed',
    isByok: false,
    cost: { total: 0.3, input: 0.3, output: 0, cacheDiscount: 0, source: 'catalog' as const },
  })
  const fold = new EmbeddingsFold({
    id: 'gen-1',
    request: { model: 'acme/embed', input: [], ...request },
    receivedAt: 0,
    stream: false,
    clock,
    newId: sequentialIds(),
    facts,
    ...more,
  })
  fold.push([{ type: 'response-start', upstreamId: 'u' }])
  expect([fold.complete, fold.ended]).toEqual([false, false])
  fold.push([{ type: 'response-end', reason: 'stop', ...end }])
  expect(fold.complete).toBe(true)
  fold.finish()
  expect([fold.ended, fold.takeWire(), fold.output()]).toEqual([true, '', []])
  return JSON.parse(fold.answer()) as Json
}

const vectors = [[0.5, -1], 'AACAPwAAAEA=']

describe('the answer', () => {
  it('has the vectors in their order, with what they cost', () => {
    expect(answerOf({ vectors, usage: createUsage({ inputTokens: 4 }) })).toEqual({
      id: 'gen-1',
      object: 'list',
      model: 'acme/embed',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -1] },
        { object: 'embedding', index: 1, embedding: [1, 2] },
      ],
      usage: {
        prompt_tokens: 4,
        total_tokens: 4,
        cost: 0.3,
        cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0.3, upstream_inference_completions_cost: 0 },
        is_byok: false,
      },
    })
  })

  it('writes them in the requested encoding, whatever the provider sent', () => {
    const { data } = answerOf({ vectors }, { request: { encoding_format: 'base64' } }) as { readonly data: readonly Json[] }
    expect(data.map(({ embedding }) => embedding)).toEqual(['AAAAPwAAgL8=', 'AACAPwAAAEA='])
  })

  it('contains no cost if it is unknown', () => {
    const facts = () => ({ model: 'acme/embed', cost: { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'unknown' as const } })
    expect(answerOf({ vectors, usage: createUsage({ inputTokens: 4 }) }, { facts })['usage']).toEqual({
      prompt_tokens: 4,
      total_tokens: 4,
      is_byok: false,
    })
  })

  it('contains the routing metadata if requested', () => {
    expect(answerOf({ vectors }, { extra: () => ({ gateway_metadata: { attempt: 1 } }) })).toMatchObject({ gateway_metadata: { attempt: 1 } })
  })

  it('is none without vectors', () => {
    expect(() => answerOf({})).toThrow('The provider ended its answer without vectors')
  })
})

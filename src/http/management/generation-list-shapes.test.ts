import { describe, expect, it } from 'vitest'
import type { Generation } from '../../core/generation.ts'
import { minimalGeneration } from '../../testing/sample-generations.ts'
import { NOW, sampleGeneration } from '../../testing/sample-records.ts'
import { filterOf, generationDetailAnswer, generationsAnswer, generationsQuery, presentDetail, presentSummary } from './generation-list-shapes.ts'

const detailOf = (overrides: Partial<Generation>) =>
  generationDetailAnswer.parse({ data: presentDetail({ ...minimalGeneration().generation, ...overrides }) }).data

describe('a record as a line of the list', () => {
  it("has the number of attempts and the gateway's part of the cost, without rounding errors", () => {
    const cost = { total: 0.1 + 0.2, input: 0.1, output: 0.2, cacheDiscount: 0, byok: 0.1, source: 'catalog' } as const
    const [line] = generationsAnswer.parse({ data: [presentSummary(sampleGeneration('gen-1', { cost }))], next_cursor: null }).data
    expect(line).toMatchObject({
      attempts: 1,
      total_cost: 0.2,
      cost_source: 'catalog',
      upstream_inference_cost: 0.1,
      latency: 210.25,
      generation_time: 900.5,
    })
  })

  it('has null for unknown values', () => {
    const { sessionId: _s, model: _m, provider: _p, firstTokenMs: _f, finishReason: _r, ...known } = sampleGeneration('gen-1')
    expect(presentSummary(known)).toMatchObject({
      session_id: null,
      model: null,
      provider: null,
      latency: null,
      finish_reason: null,
      error_type: null,
    })
  })

  it('of a call that failed without a finish reason has the reason error', () => {
    const { finishReason: _r, ...known } = sampleGeneration('gen-1', { status: 'failed' })
    expect(presentSummary(known).finish_reason).toBe('error')
  })
})

describe('all of a record', () => {
  it('shows who pays what, and for which extras', () => {
    const cost = {
      total: 0.1 + 0.2,
      input: 0.1,
      output: 0.1,
      cacheDiscount: -0.1,
      byok: 0.1,
      extras: { web_search: 0.1 },
      source: 'upstream',
    } as const
    expect(detailOf({ cost }).cost).toEqual({
      total: 0.3,
      input: 0.1,
      output: 0.1,
      cache_discount: -0.1,
      byok: 0.1,
      extras: { web_search: 0.1 },
      source: 'upstream',
    })
    expect(detailOf({ cost: { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'unknown' } }).cost).toMatchObject({ byok: 0, extras: {} })
  })

  it('contains stages as they were recorded, and tools with their times', () => {
    const pipeline = [{ type: 'plugin', name: 'web', data: { engine: 'native' }, cost_usd: null }] as const
    const step = { kind: 'tool', name: 'web_search', itemId: 'ws_1', startedAt: NOW, durationMs: 12.5 } as const
    expect(detailOf({ pipeline, steps: [step, { ...step, errorType: 'timeout', errorMessage: 'too slow' }] })).toMatchObject({
      pipeline,
      steps: [
        {
          kind: 'tool',
          name: 'web_search',
          item_id: 'ws_1',
          started_at: '2023-11-14T22:13:20.000Z',
          duration_ms: 12.5,
          error_type: null,
          error_message: null,
        },
        { error_type: 'timeout', error_message: 'too slow' },
      ],
    })
  })

  it('shows the cost of each attempt that wrote a part of the answer', () => {
    const [attempt] = sampleGeneration('gen-1').attempts
    const parts = [{ ...attempt!, costUsd: 0.1 + 0.2, isByok: true }, attempt!]
    expect(detailOf({ attempts: parts }).attempts).toMatchObject([
      { cost: 0.3, is_byok: true },
      { cost: null, is_byok: false },
    ])
  })

  it.each([
    [{ unitPrices: { input: 3 } }, { input: 3, output: null }],
    [{ unitPrices: {} }, { input: null, output: null }],
    [{}, null],
  ])('contains prices as far as they were known: %o', (known, expected) => {
    const { unitPrices: _, ...record } = sampleGeneration('gen-1')
    expect(presentDetail({ ...record, ...known }).unit_prices).toEqual(expected)
  })
})

describe('the query of the list', () => {
  it('asks for fifty records of all kinds by default', () => {
    const query = generationsQuery.parse({})
    expect(query.limit).toBe(50)
    expect(filterOf(query)).toEqual({})
  })

  it('is read field by field, with times of any zone', () => {
    const text = { model: 'm', provider: 'p', status: 'failed', error_type: 'e', api_key_hash: 'k', session_id: 's' }
    const query = generationsQuery.parse({ ...text, from: '2023-11-14T22:13:20Z', to: '2023-11-15T00:13:20.001+02:00' })
    expect(filterOf(query)).toEqual({
      model: 'm',
      provider: 'p',
      status: 'failed',
      errorType: 'e',
      keyHash: 'k',
      sessionId: 's',
      from: NOW,
      to: NOW + 1,
    })
  })
})

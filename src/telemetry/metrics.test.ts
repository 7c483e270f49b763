import { describe, expect, it } from 'vitest'
import type { Generation } from '../core/generation.ts'
import { createUsage } from '../core/usage.ts'
import { createMetrics } from './metrics.ts'

const generation = (parts: Partial<Generation>): Generation =>
  ({
    model: 'acme/small',
    provider: 'acme',
    status: 'completed',
    durationMs: 300,
    firstTokenMs: 60,
    usage: createUsage({ inputTokens: 10, outputTokens: 4 }),
    cost: { total: 0.5, input: 0.25, output: 0.25, cacheDiscount: 0, source: 'catalog' },
    attempts: [{ provider: 'acme', status: 200 }],
    ...parts,
  }) as Generation

describe('createMetrics', () => {
  it('adds up finished calls by label', async () => {
    const metrics = createMetrics()
    metrics.finished(generation({}))
    metrics.finished(generation({}))
    metrics.finished(generation({ status: 'failed', errorType: 'timeout', provider: undefined, model: undefined }))
    const text = await metrics.text()
    expect(text).toContain('gateway_calls_total{model="acme/small",provider="acme",status="completed",error_type=""} 2')
    expect(text).toContain('gateway_calls_total{model="none",provider="none",status="failed",error_type="timeout"} 1')
    expect(text).toContain('gateway_tokens_total{model="acme/small",provider="acme",direction="input"} 20')
    expect(text).toContain('gateway_cost_usd_total{model="acme/small",provider="acme"} 1')
    expect(text).toContain('gateway_attempts_total{provider="acme",status="200",error_type=""} 3')
  })

  it('adds up costs without rounding errors', async () => {
    const metrics = createMetrics()
    const cost = (total: number): Partial<Generation> => ({ cost: { total, input: total, output: 0, cacheDiscount: 0, source: 'catalog' } })
    for (const total of [5_000, ...Array.from({ length: 300 }, () => 0.1)]) metrics.finished(generation(cost(total)))
    expect(await metrics.text()).toContain('gateway_cost_usd_total{model="acme/small",provider="acme"} 5030\n')
  })

  it('counts answers from the cache', async () => {
    const metrics = createMetrics()
    metrics.finished(generation({}))
    metrics.finished(generation({ cacheSourceId: 'gen-1', attempts: [] }))
    expect(await metrics.text()).toContain('gateway_answer_cache_hits_total{model="acme/small",provider="acme"} 1')
  })
  it('counts their time for no provider, because none was called', async () => {
    const metrics = createMetrics()
    metrics.finished(generation({ firstTokenMs: 800 }))
    metrics.finished(generation({ firstTokenMs: 1, cacheSourceId: 'gen-1', attempts: [] }))
    const text = await metrics.text()
    for (const name of ['gateway_first_token_seconds', 'gateway_call_duration_seconds'])
      for (const provider of ['acme', 'none']) expect(text).toContain(`${name}_count{provider="${provider}"} 1`)
  })

  it('counts providers that were skipped, by the limit that was used up', async () => {
    const metrics = createMetrics()
    metrics.passedOver('acme', 'requests')
    metrics.passedOver('acme', 'requests')
    metrics.passedOver('acme', 'concurrent_requests')
    const text = await metrics.text()
    expect(text).toContain('gateway_passed_over_total{provider="acme",limit="requests"} 2')
    expect(text).toContain('gateway_passed_over_total{provider="acme",limit="concurrent_requests"} 1')
  })

  it('tells attempts that failed from those that were answered, whatever their HTTP status', async () => {
    const metrics = createMetrics()
    const [attempt] = generation({}).attempts
    const brokenOff = { ...attempt!, status: 200, errorType: 'provider_unavailable' }
    const left = { ...attempt!, status: 0, errorType: 'cancelled' }
    metrics.finished(generation({ attempts: [brokenOff, left, attempt!] }))
    const text = await metrics.text()
    expect(text).toContain('gateway_attempts_total{provider="acme",status="200",error_type="provider_unavailable"} 1')
    expect(text).toContain('gateway_attempts_total{provider="acme",status="0",error_type="cancelled"} 1')
    expect(text).toContain('gateway_attempts_total{provider="acme",status="200",error_type=""} 1')
  })

  // An alert subtracts them. A series that is not there is not 0 to Prometheus: the difference would be nothing.
  it('counts calls that a rate limit of their caller refuses, from 0 on', async () => {
    const metrics = createMetrics()
    const limited = async () =>
      [...(await metrics.text()).matchAll(/^gateway_calls_limited_total\{limit="(\w+)"\} (\d+)$/gm)].map(([, limit, count]) => [limit, count])
    expect(await limited()).toEqual([
      ['requests', '0'],
      ['tokens', '0'],
      ['concurrent_requests', '0'],
    ])
    metrics.limited('tokens')
    expect(await limited()).toContainEqual(['tokens', '1'])
  })

  it('names a bounded number of models, and loses nothing of the others', async () => {
    const metrics = createMetrics()
    for (let i = 0; i < 2_000; i++) metrics.finished(generation({ model: `acme/made-up-${i}` }))
    for (const errorType of ['timeout', 'server'] as const) metrics.finished(generation({ model: 'acme/new', status: 'failed', errorType }))
    const text = await metrics.text()
    const series = text.split('\n').filter((line) => line.startsWith('gateway_calls_total{'))
    expect(series.length).toBeLessThan(510)
    expect(text).toContain('gateway_calls_total{model="acme/*",provider="acme",status="completed",error_type=""} 1500')
    expect(text).toContain('gateway_calls_total{model="acme/*",provider="acme",status="failed",error_type="timeout"} 1')
    expect(text).toContain('gateway_tokens_total{model="acme/*",provider="acme",direction="input"} 15020')
    expect(series.map((line) => Number(line.split(' ')[1])).reduce((a, b) => a + b)).toBe(2_002)
  })

  it('lets no name of a model take the place of other labels', async () => {
    const metrics = createMetrics()
    metrics.finished(generation({ model: 'acme/x\u0000bolt\u0000failed\u0000server' }))
    const text = await metrics.text()
    expect(text).toContain('gateway_calls_total{model="acme/*",provider="acme",status="completed",error_type=""} 1')
    expect(text).not.toContain('bolt')
  })

  it('counts models beyond the bound together with others of their provider', async () => {
    const metrics = createMetrics()
    const errors = Array.from({ length: 20 }, (_, i) => `e${i}`)
    for (let i = 0; i < 400; i++) for (const errorType of errors) metrics.finished(generation({ model: `acme/m${i}`, status: 'failed', errorType }))
    const series = (await metrics.text()).split('\n').filter((line) => line.startsWith('gateway_calls_total{'))
    expect(series.length).toBeLessThanOrEqual(5_000 + errors.length)
    expect(series.map((line) => Number(line.split(' ')[1])).reduce((a, b) => a + b)).toBe(8_000)
  })

  it('has a bound that nothing exceeds, not even the label sets that combine many models', async () => {
    const metrics = createMetrics()
    for (let i = 0; i < 8_000; i++)
      metrics.finished(generation({ status: 'failed', errorType: `e${i}`, attempts: [{ ...generation({}).attempts[0]!, provider: `p${i}` }] }))
    const lines = (await metrics.text()).split('\n')
    const count = (name: string): number => lines.filter((line) => line.startsWith(`${name}{`)).length
    expect([count('gateway_calls_total'), count('gateway_attempts_total')]).toEqual([6_000, 5_000])
  })

  it('counts durations in cumulative buckets', async () => {
    const metrics = createMetrics()
    for (const durationMs of [10, 300, 400_000]) metrics.finished(generation({ durationMs }))
    const text = await metrics.text()
    expect(text).toContain('gateway_call_duration_seconds_bucket{le="0.05",provider="acme"} 1')
    expect(text).toContain('gateway_call_duration_seconds_bucket{le="0.5",provider="acme"} 2')
    expect(text).toContain('gateway_call_duration_seconds_bucket{le="+Inf",provider="acme"} 3')
    expect(text).toContain('gateway_call_duration_seconds_count{provider="acme"} 3')
  })

  it('can be scraped twice without doubling', async () => {
    const metrics = createMetrics()
    metrics.finished(generation({}))
    await metrics.text()
    expect(await metrics.text()).toContain('status="completed",error_type=""} 1')
  })

  it('reports the current delay of the event loop, and no figures of an empty histogram', async () => {
    const names = [...(await createMetrics().text()).matchAll(/^# TYPE (nodejs_eventloop\S+)/gm)].map(([, name]) => name)
    expect(names).toEqual(['nodejs_eventloop_lag_seconds'])
  })
})

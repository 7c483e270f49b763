import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import type { Generation, GenerationAttempt } from '../core/generation.ts'
import { createUsage } from '../core/usage.ts'
import { sampleGeneration } from '../testing/sample-records.ts'
import { createCostReport, type CostLine } from './cost-report.ts'

const usage = createUsage({ inputTokens: 100, cachedTokens: 40, outputTokens: 50, reasoningTokens: 10 })
const money = { input: 0, output: 0, cacheDiscount: 0 }
const paid = (total: number, more: Partial<Generation['cost']> = {}): Generation['cost'] => ({ ...money, total, source: 'catalog', ...more })

function report(...generations: readonly Partial<Generation>[]): readonly CostLine[] {
  const sums = createCostReport()
  for (const [n, each] of generations.entries()) sums.add(sampleGeneration(`gen-${n}`, { usage, attempts: [], ...each }))
  return sums.lines()
}

const attempt = (provider: string, more: Partial<GenerationAttempt>): GenerationAttempt => ({
  provider,
  providerName: provider,
  model: 'm/1',
  upstreamModel: 'u',
  endpointId: `m/1@${provider}`,
  status: 200,
  startedAt: 0,
  ...more,
})

describe('the cost per provider, from the records', () => {
  it(verifies('P32', 'is summed up by provider and model, tokens and money'), () => {
    const lines = report(
      { provider: 'b', model: 'm/1', cost: paid(0.25) },
      { provider: 'a', model: 'm/2', cost: paid(1) },
      { provider: 'a', model: 'm/1', cost: paid(0.5) },
      { provider: 'a', model: 'm/1', cost: paid(0.5) },
    )
    expect(lines.map(({ provider, model, calls, usd }) => [provider, model, calls, usd])).toEqual([
      ['a', 'm/1', 2, 1],
      ['a', 'm/2', 1, 1],
      ['b', 'm/1', 1, 0.25],
    ])
    expect(lines[0]).toMatchObject({ inputTokens: 200, cachedTokens: 80, outputTokens: 100, reasoningTokens: 20 })
  })

  it('adds any number of them without rounding errors', () => {
    const many = Array.from({ length: 1_000 }, () => ({ cost: paid(0.003_702, { byok: 0.001_234, extras: { web: 0.000_7 } }) }))
    expect(report({ cost: paid(6_000, { byok: 3_000 }) }, ...many)).toMatchObject([{ usd: 3_002.468, ownKeysUsd: 3_001.234, extrasUsd: 0.7 }])
  })

  it('separates what own provider keys paid, and shows the share of tools and plugins', () => {
    expect(report({ cost: paid(3, { byok: 1, extras: { web: 0.5, image: 0.25 } }) })).toMatchObject([{ usd: 2, ownKeysUsd: 1, extrasUsd: 0.75 }])
  })

  it('shows which part of it is estimated or unknown', () => {
    const estimated = createUsage({ inputTokens: 1, outputTokens: 1, estimated: true })
    const [line] = report(
      { cost: paid(0.5, { source: 'upstream' }) },
      { cost: paid(0, { source: 'unknown' }) },
      { cost: paid(0, { source: 'unknown' }), usage: createUsage({}) },
      { cost: paid(0.25), usage: estimated },
    )
    expect(line).toMatchObject({ calls: 4, reported: 1, unpriced: 1, estimated: 1, estimatedUsd: 0.25 })
  })

  it('contains no calls that reached no endpoint, unless something was bought for them', () => {
    const sums = createCostReport()
    const { provider: _provider, model: _model, ...nobody } = sampleGeneration('gen-1', { status: 'failed', usage: createUsage({}) })
    sums.add({ ...nobody, cost: paid(0), attempts: [] })
    expect(sums.lines()).toEqual([])
    sums.add({ ...nobody, cost: paid(0.75, { byok: 0.25, extras: { web: 0.75 } }), attempts: [] })
    expect(sums.lines()).toMatchObject([{ provider: '(no endpoint)', model: '-', calls: 1, usd: 0.5, ownKeysUsd: 0.25, extrasUsd: 0.75 }])
  })

  it('counts an answer that another endpoint ended at the endpoint where it began', () => {
    const lines = report({
      provider: 'c',
      model: 'm/1',
      endpointId: 'm/1@c',
      attempts: [
        attempt('a', { errorType: 'provider_unavailable', firstTokenMs: 5 }),
        // Charged for the text that it wrote.
        attempt('a', { errorType: 'provider_unavailable', firstTokenMs: 5, costUsd: 0 }),
        // Wrote nothing.
        attempt('b', { errorType: 'provider_unavailable', status: 503 }),
        attempt('c', { firstTokenMs: 7 }),
      ],
    })
    expect(lines.map(({ provider, calls, broken }) => [provider, calls, broken])).toEqual([
      ['a', 0, 1],
      ['c', 1, 0],
    ])
  })

  it(verifies('P33', 'gives each of several endpoints the cost of its part'), () => {
    const last = { provider: 'c', model: 'm/1', endpointId: 'm/1@c' }
    const attempts = [attempt('a', { costUsd: 0.5 }), attempt('b', { costUsd: 0.25, isByok: true }), attempt('c', { costUsd: 0.125 })]
    const money = (...generations: readonly Partial<Generation>[]) =>
      report(...generations).map(({ provider, calls, usd, ownKeysUsd }) => [provider, calls, usd, ownKeysUsd])
    expect(money({ ...last, attempts, cost: paid(1, { byok: 0.25, extras: { web: 0.125 } }) })).toEqual([
      ['a', 0, 0.5, 0],
      ['b', 0, 0, 0.25],
      ['c', 1, 0.25, 0],
    ])
    // Sums of binary fractions depend on the order: these two add up to 0.30000000000000004.
    const others = [attempt('a', { costUsd: 0.1 }), attempt('b', { costUsd: 0.2 })]
    expect(money({ ...last, attempts: others, cost: paid(0.3) }).map(([provider, , usd]) => [provider, Number(usd).toFixed(9)])).toEqual([
      ['a', '0.100000000'],
      ['b', '0.200000000'],
      ['c', '-0.000000000'],
    ])
    // Nothing was charged.
    expect(money({ ...last, attempts, cost: paid(0) })).toEqual([['c', 1, 0, 0]])
  })
})

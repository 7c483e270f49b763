import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../core/request.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import type { HealthView } from './health.ts'
import { attemptLimits, beginDeadline, countLeft, hasAlternative, withinDeadline } from './limits.ts'
import { verifies } from '../../e2e/requirements.ts'

const request: ModelRequest = { input: [] }
const withP90 = (p90: number): HealthView => ({
  get: () => ({ state: 'healthy', benchedUntil: 0, lastOutageAt: 0, latency: { p50: p90, p75: p90, p90, p99: p90 } }),
})

describe('attemptLimits', () => {
  const auto = testEndpoint()
  const thinker = testEndpoint({ reasonsByDefault: true })
  it.each([
    ['12 s when another endpoint could serve', auto, request, true, undefined, 12_000],
    ['120 s when nobody else can', auto, request, false, undefined, 120_000],
    ['120 s when the request reasons', auto, { ...request, reasoning: { effort: 'low' as const } }, true, undefined, 120_000],
    ['12 s when the request says not to reason', auto, { ...request, reasoning: { effort: 'none' as const } }, true, undefined, 12_000],
    ['12 s when reasoning is disabled', auto, { ...request, reasoning: { enabled: false } }, true, undefined, 12_000],
    ['120 s when the model reasons by itself', thinker, request, true, undefined, 120_000],
    ['four times a slow endpoint’s p90', auto, request, true, withP90(10_000), 40_000],
    ['no less than 12 s for a fast one', auto, request, true, withP90(100), 12_000],
    ['as configured when it is a number', testEndpoint({ timeouts: { firstToken: 3_000 } }), request, false, withP90(10_000), 3_000],
    ['never beyond the total', testEndpoint({ timeouts: { total: 60_000 } }), request, false, undefined, 60_000],
  ] as const)('first token: %s', (_name, endpoint, asked, alternative, health, expected) => {
    expect(attemptLimits({ endpoint, request: asked, hasAlternative: alternative, health }).firstToken).toBe(expected)
  })
  it.each([
    ['35 s for a plain answer', auto, request, 35_000, 120_000],
    ['120 s when the request reasons', auto, { ...request, reasoning: { effort: 'high' as const } }, 120_000, 120_000],
    ['120 s when the model reasons by itself', thinker, request, 120_000, 120_000],
    ['120 s when tools are offered', auto, { ...request, tools: [{ type: 'function', name: 'f', parameters: null }] }, 120_000, 120_000],
    [
      '120 s when tools stand in the input',
      auto,
      { input: [{ type: 'additional_tools', tools: [{ type: 'custom', name: 'f' }] }] },
      120_000,
      120_000,
    ],
    [
      '120 s when a search has found tools',
      auto,
      { input: [{ type: 'tool_search_output', tools: [{ type: 'custom', name: 'f' }] }] },
      120_000,
      120_000,
    ],
    ['120 s when media are wanted', auto, { ...request, modalities: ['text', 'image'] }, 120_000, 120_000],
    ['35 s when only text is', auto, { ...request, tools: [], modalities: ['text'] }, 35_000, 120_000],
    ['as configured when it is a duration, and no more', testEndpoint({ timeouts: { idle: 5_000 } }), request, 5_000, 5_000],
    ['never beyond the total', testEndpoint({ timeouts: { total: 20_000 } }), request, 20_000, 20_000],
  ] as const)('silence: %s', (_name, endpoint, asked, idle, longestIdle) => {
    expect(attemptLimits({ endpoint, request: asked, hasAlternative: true })).toMatchObject({ idle, longestIdle })
  })
  it('gives an upstream that answers in one piece its total time', () => {
    const { connection } = auto
    const whole = { ...auto, connection: { ...connection, dialect: { ...connection.dialect, asksWhole: () => true } } }
    expect(attemptLimits({ endpoint: testEndpoint(), request, whole: true, hasAlternative: true })).toEqual(
      attemptLimits({ endpoint: whole, request, hasAlternative: true }),
    )
    expect(attemptLimits({ endpoint: whole, request, hasAlternative: true })).toEqual({
      connect: 5_000,
      firstToken: 900_000,
      idle: 900_000,
      longestIdle: 900_000,
      total: 900_000,
    })
  })
  it('counts another endpoint as an alternative, and the same server with another key not', () => {
    const other = testEndpoint({ tag: 'other' })
    expect(hasAlternative([{ endpoint: auto }, { endpoint: other }], 0)).toBe(true)
    expect(hasAlternative([{ endpoint: auto }, { endpoint: auto }], 0)).toBe(false)
    expect(hasAlternative([{ endpoint: auto }, { endpoint: other }], 1)).toBe(false)
  })
  it('does not count a failed endpoint as an alternative for a busy one that is tried again', () => {
    const plan = [{ endpoint: auto }, { endpoint: testEndpoint({ tag: 'other' }) }, { endpoint: testEndpoint({ tag: 'third' }) }]
    expect([countLeft(plan, 0, new Set()), countLeft(plan, 0, new Set([1])), countLeft(plan, 1, new Set([1, 2]))]).toEqual([2, 1, 0])
    expect(hasAlternative(plan, 0, new Set([1]))).toBe(true)
    expect(hasAlternative(plan, 0, new Set([1, 2]))).toBe(false)
  })
})

describe('the deadline of a call', () => {
  const limits = attemptLimits({ endpoint: testEndpoint(), request, hasAlternative: true })
  it('ends before 100 s for plain requests, and never before the first attempt may', () => {
    expect(beginDeadline({ request, endpoint: testEndpoint(), firstLimits: limits, startedAt: 0 })).toBe(90_000)
    expect(beginDeadline({ request, endpoint: testEndpoint(), firstLimits: { ...limits, firstToken: 120_000 }, startedAt: 0 })).toBe(120_000)
    expect(beginDeadline({ request, endpoint: testEndpoint({ reasonsByDefault: true }), firstLimits: limits, startedAt: 0 })).toBe(300_000)
  })
  it(verifies('P14', 'leaves time for the attempts that follow'), () => {
    expect(withinDeadline(limits, 90_000, 3)).toBe(limits)
    expect(withinDeadline({ ...limits, firstToken: 120_000 }, 90_000, 5)?.firstToken).toBe(66_000)
    expect(withinDeadline(limits, 9_000, 1)?.firstToken).toBe(4_500)
    expect(withinDeadline(limits, 9_000, 0)?.firstToken).toBe(9_000)
    expect(withinDeadline(limits, 500, 0)).toBeUndefined()
  })
  it('does not change the connect limit, by which connections are pooled', () => {
    for (const left of [3_000, 3_004, 90_000]) expect(withinDeadline(limits, left, 2)?.connect).toBe(limits.connect)
  })
  it('is never exceeded by three attempts that use their full limits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3_000, max: 300_000 }), fc.integer({ min: 1_000, max: 120_000 }), (budget, patience) => {
        let left = budget
        for (let after = 2; after >= 0; after--) {
          const fitted = withinDeadline({ ...limits, firstToken: patience }, left, after)
          if (fitted !== undefined) left -= fitted.firstToken
        }
        expect(left).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import type { SubjectLimits } from '../core/call-limits.ts'
import type { Verdict } from '../core/counter.ts'
import { refusal } from './limit-refusal.ts'

const NOW = Date.UTC(2026, 0, 15, 12)
const subject = (kind: SubjectLimits['kind'], budgets: SubjectLimits['budgets'] = []): SubjectLimits => ({
  kind,
  subject: kind,
  revision: 0,
  includeByok: false,
  budgets,
})
const all = (['key', 'guardrail', 'workspace', 'installation'] as const).map((kind) =>
  subject(kind, [
    { interval: 'daily', limitUsd: 1.5 },
    { interval: 'lifetime', limitUsd: 20 },
  ]),
)
const refused = (verdict: Extract<Verdict, { readonly ok: false }>) => refusal(verdict, all, NOW)

describe('a rate that is used up', () => {
  const state = { limit: 10.5, remaining: 3, resetAt: NOW + 60_000 }
  const rated = (retryAfterMs: number, kind = 'key') => refused({ ok: false, reason: 'rate', subject: kind, rate: 'requests', state, retryAfterMs })

  it('is a 429 that says whose, which, and when to come back', () => {
    const error = rated(5_001)
    expect(error.status).toBe(429)
    expect(error.message).toBe('This key may make use of 11 requests per minute; try again in 6 s')
    expect(error.details.retryAfterMs).toBe(5_001)
    expect(error.details.metadata).toEqual({ limit: 'requests' })
    expect(error.details.headers).toEqual({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '3',
      'x-ratelimit-reset': String(NOW + 60_000),
    })
    expect(rated(5_000, 'workspace').message).toBe('This workspace may make use of 11 requests per minute; try again in 5 s')
    expect(rated(1).message).toContain('try again in 1 s')
  })

  it('is the same for concurrent calls', () => {
    const error = refused({ ok: false, reason: 'open', subject: 'key', limit: 2 })
    expect(error.message).toBe('This key may have 2 requests running at a time; try again in 1 s')
    expect(error.details).toMatchObject({ retryAfterMs: 1_000, metadata: { limit: 'concurrent_requests' } })
    expect(error.details.headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 1_000) })
  })
})

describe('a budget that does not hold the call', () => {
  const over = (kind: string, intervals: readonly ('lifetime' | 'daily')[], availableUsd = 0, leftUsd = availableUsd) =>
    refused({ ok: false, reason: 'budget', subject: kind, intervals, availableUsd, leftUsd })

  it('names amounts that are smaller than a millionth of a dollar', () => {
    const tiny = subject('key', [{ interval: 'lifetime', limitUsd: 0.000_005_6 }])
    const error = refusal(
      { ok: false, reason: 'budget', subject: 'key', intervals: ['lifetime'], availableUsd: 0.000_000_4, leftUsd: 0.000_000_4 },
      [tiny],
      NOW,
    )
    expect(error.message).toBe("The key's limit of 0.0000056 USD is reached: the 0.0000004 USD that are left do not cover this request")
  })

  it.each([
    ['key', 402, 'key_limit', "The key's daily limit of 1.5 USD is reached: nothing is left"],
    ['guardrail', 403, 'guardrail_budget', 'The daily limit of 1.5 USD that a guardrail sets for the key is reached: nothing is left'],
    ['workspace', 403, 'workspace_budget', "The workspace's daily budget of 1.5 USD is reached: nothing is left"],
  ])('of a %s is a %i', (kind, status, source, message) => {
    const error = over(kind, ['daily'])
    expect([error.status, error.message]).toEqual([status, message])
    expect(error.details.metadata).toEqual({
      limit_source: source,
      interval: 'daily',
      limit_usd: 1.5,
      available_usd: 0,
      resets_at: '2026-01-16T00:00:00.000Z',
    })
  })

  it('of the gateway means its credits, which have no period', () => {
    const error = over('installation', ['lifetime'])
    expect([error.status, error.message]).toEqual([402, 'The credits of this gateway (20 USD) are used up: nothing is left'])
    expect(error.details.metadata).toEqual({ limit_source: 'credits', interval: 'lifetime', limit_usd: 20, available_usd: 0 })
  })

  it('is reported with the broadest interval', () => {
    expect(over('key', ['lifetime', 'daily']).message).toBe("The key's limit of 20 USD is reached: nothing is left")
  })

  it('reports what is left of that interval, whatever is left of others', () => {
    const error = over('workspace', ['lifetime', 'daily'], 0, 2)
    expect(error.message).toBe("The workspace's lifetime budget of 20 USD is reached: the 2 USD that are left do not cover this request")
    expect(error.details.metadata).toMatchObject({ interval: 'lifetime', limit_usd: 20, available_usd: 2 })
    // The other one has nothing left for a cheaper endpoint.
    expect(error.details).not.toHaveProperty('failover')
  })

  it('may be enough for a cheaper endpoint while something is left', () => {
    expect(over('key', ['daily'], 0.0012345678)).toMatchObject({
      message: "The key's daily limit of 1.5 USD is reached: the 0.001235 USD that are left do not cover this request",
      details: { failover: 'next', metadata: { available_usd: 0.0012345678 } },
    })
    expect(over('key', ['daily']).details).not.toHaveProperty('failover')
  })
})

it('unknown spending admits no call for a moment, at any endpoint', () => {
  expect(refused({ ok: false, reason: 'unknown', subject: 'key' })).toMatchObject({
    status: 503,
    details: { retryAfterMs: 2_000, failover: 'never' },
  })
})

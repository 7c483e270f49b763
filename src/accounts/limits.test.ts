import { describe, expect, it } from 'vitest'
import type { Owner } from '../core/call.ts'
import { parseSubject } from '../core/call-limits.ts'
import type { LimitsConfig } from '../core/config.ts'
import type { AppliedGuardrail } from '../core/guardrail.ts'
import { sampleKey, sampleWorkspace } from '../testing/sample-records.ts'
import { createLimitBook } from './limits.ts'

const config: LimitsConfig = { unknownPrice: 'allow', expectedOutputTokens: 1, whenUnknown: 'local' }
const owner: Owner = { workspaceId: 'w', keyHash: 'h', keyName: '', keyLabel: '' }
const budget = (limit_usd: number) => ({ id: 'b', limit_usd, created_at: 0, updated_at: 0 })

function limitsOf(key: object, workspace: object = {}, more: Partial<LimitsConfig> = {}) {
  const current = { ...config, ...more }
  const book = createLimitBook(
    { key: () => sampleKey('h', { settings: key as never }), workspace: () => sampleWorkspace('w', { settings: workspace as never }) },
    () => current,
  )
  return book(owner)
}

describe('the limits of a caller', () => {
  it('are none by default', () => {
    expect(limitsOf({})).toBeUndefined()
    expect(limitsOf({ limit: null, rate_limits: {} }, { budgets: {} })).toBeUndefined()
  })

  it('come from guardrails, too, counted for each key apart and anew when they change', () => {
    const strict: AppliedGuardrail = {
      id: 'g1',
      name: 'g',
      scope: 'api-key',
      rules: { limit_usd: 5, reset_interval: 'daily', include_byok_in_budgets: true },
    }
    let applied: readonly AppliedGuardrail[] | undefined = [strict]
    // The same key object, so that only the guardrails change.
    const key = sampleKey('h')
    const book = createLimitBook({ key: () => key, workspace: () => undefined }, () => config, { of: () => applied })
    expect(book(owner)).toMatchObject([
      { kind: 'guardrail', subject: 'key:h+g1+byok', budgets: [{ interval: 'daily', limitUsd: 5 }], includeByok: true },
    ])
    expect(parseSubject('key:h+g1+byok')).toEqual({ owner: 'key:h', includeByok: true })
    expect(parseSubject('key:h+g1')).toEqual({ owner: 'key:h', includeByok: false })
    applied = [{ ...strict, rules: { limit_usd: 1 } }]
    expect(book(owner)).toMatchObject([{ subject: 'key:h+g1', budgets: [{ interval: 'lifetime', limitUsd: 1 }] }])
    applied = undefined
    expect(book(owner)).toBeUndefined()
  })

  it('come from the key, its workspace and the installation, the narrowest first', () => {
    const limits = limitsOf({ limit: 5, limit_reset: 'weekly' }, { budgets: { monthly: budget(50), daily: budget(2) } }, { credits: 100 })
    expect(limits?.map(({ kind, subject, budgets }) => [kind, subject, budgets])).toEqual([
      ['key', 'key:h', [{ interval: 'weekly', limitUsd: 5 }]],
      [
        'workspace',
        'workspace:w',
        [
          { interval: 'monthly', limitUsd: 50 },
          { interval: 'daily', limitUsd: 2 },
        ],
      ],
      ['installation', 'installation', [{ interval: 'lifetime', limitUsd: 100 }]],
    ])
  })

  it('count own keys in a sum of their own', () => {
    expect(limitsOf({ limit: 5, include_byok_in_limit: true })?.[0]).toMatchObject({ subject: 'key:h+byok', includeByok: true })
    const budgets = { daily: budget(2) }
    expect(limitsOf({}, { budgets, include_byok_in_budgets: true })).toMatchObject([{ subject: 'workspace:w+byok', includeByok: true }])
    expect(limitsOf({}, { budgets })).toMatchObject([{ subject: 'workspace:w', includeByok: false }])
    expect(limitsOf({}, {}, { credits: 1 })).toMatchObject([{ subject: 'installation', includeByok: false }])
  })

  it('take rates of the key over those of the configuration', () => {
    const limits = limitsOf(
      { rate_limits: { requests_per_minute: 3 } },
      { rate_limits: { concurrent_requests: 9 } },
      { requestsPerMinute: 60, tokensPerMinute: 1_000 },
    )
    expect(limits).toMatchObject([
      { requestsPerMinute: 3, tokensPerMinute: 1_000 },
      { kind: 'workspace', maxOpen: 9 },
    ])
  })

  it('are the key’s own for each rate, else the configuration’s; a key without any rate has none', () => {
    const defaults = { requestsPerMinute: 60, tokensPerMinute: 1_000, concurrentRequests: 4 }
    const own = { requests_per_minute: 3, tokens_per_minute: 9_000, concurrent_requests: 2 }
    const rates = (limits: ReturnType<typeof limitsOf>) => [limits?.[0]?.requestsPerMinute, limits?.[0]?.tokensPerMinute, limits?.[0]?.maxOpen]
    expect(rates(limitsOf({ rate_limits: own }, {}, defaults))).toEqual([3, 9_000, 2])
    expect(rates(limitsOf({}, {}, defaults))).toEqual([60, 1_000, 4])
    for (const rate_limits of [{ tokens_per_minute: 5 }, { requests_per_minute: 5 }, { concurrent_requests: 5 }]) {
      const [only] = limitsOf({ rate_limits }) ?? []
      expect(Object.keys(only ?? {}).filter((name) => /Minute|maxOpen/.test(name))).toHaveLength(1)
    }
  })

  it('ignore invalid values of a row edited by hand', () => {
    expect(
      limitsOf({ limit: 'lots', rate_limits: { requests_per_minute: -1 } }, { budgets: { daily: { limit_usd: 'x' }, hourly: budget(1) } }),
    ).toBeUndefined()
  })

  it('have a new revision when they are set again, because spending in between counts', () => {
    let current: LimitsConfig = { ...config, credits: 5 }
    let applied: readonly AppliedGuardrail[] = [{ id: 'g1', name: 'g', scope: 'api-key', rules: { limit_usd: 5 }, revision: 7 }]
    const book = createLimitBook({ key: () => undefined, workspace: () => undefined }, () => current, { of: () => applied })
    const revisions = (): readonly number[] => book(owner)?.map(({ revision }) => revision) ?? []
    const before = revisions()
    current = { ...current, requestsPerMinute: 5 }
    expect(revisions()).toEqual(before)
    current = config
    applied = []
    expect(revisions()).toEqual([])
    current = { ...config, credits: 5 }
    applied = [{ id: 'g1', name: 'g', scope: 'api-key', rules: { limit_usd: 5 }, revision: 9 }]
    expect(revisions()[0]).toBe(9)
    expect(revisions()[1]).toBeGreaterThan(before[1]!)
  })

  it('are compiled once per owner and configuration, and anew when the key or its workspace is another', () => {
    let current = config
    const limited = (limit: number) => sampleKey('h', { settings: { limit } })
    let key = limited(1)
    let workspace = sampleWorkspace('w')
    const book = createLimitBook({ key: () => key, workspace: () => workspace }, () => current)
    const first = book(owner)
    expect(first?.[0]?.budgets).toEqual([{ interval: 'lifetime', limitUsd: 1 }])
    expect(book(owner)).toBe(first)
    current = { ...config }
    const second = book(owner)
    expect(second).not.toBe(first)
    expect(book(owner)).toBe(second)
    // A call that has begun keeps its owner from before the change.
    key = limited(2)
    expect(book(owner)?.[0]?.budgets).toEqual([{ interval: 'lifetime', limitUsd: 2 }])
    workspace = sampleWorkspace('w', { settings: { budgets: { daily: budget(3) } } })
    expect(book(owner)?.map(({ kind }) => kind)).toEqual(['key', 'workspace'])
  })
})

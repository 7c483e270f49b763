import { describe, expect, it } from 'vitest'
import type { Workspace, WorkspaceBudget } from '../../api/schema.ts'
import { numberOf } from '../../lib/fields.ts'
import { budgetBody, budgetFieldsOf, budgetSteps, byokStep, INTERVALS, spentOf, type BudgetFields, type Interval } from './budgets.ts'
import { createWorkspaceBody, NEW_WORKSPACE, slugOf, workspaceChanges, workspaceFormOf } from './form.ts'

const workspace = {
  id: 'w1',
  slug: 'research',
  name: 'Research',
  description: 'tries things',
  default_text_model: 'acme/small',
  default_image_model: null,
  default_provider_sort: 'price',
  io_logging_api_key_ids: [7, 'ab'],
  io_logging_sampling_rate: 0.07,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: true,
  is_observability_io_logging_enabled: true,
  rate_limits: { requests_per_minute: 60 },
} as unknown as Workspace

describe('the body of a workspace', () => {
  it('has what a new one is to have, and leaves the rest to the gateway', () => {
    expect(createWorkspaceBody({ ...NEW_WORKSPACE, name: ' A ', slug: 'a' })).toEqual({ name: 'A', slug: 'a' })
    expect(createWorkspaceBody({ ...NEW_WORKSPACE, name: 'A', slug: 'a', sort: 'latency', sampling: 7, broadcasts: false })).toEqual({
      name: 'A',
      slug: 'a',
      default_provider_sort: 'latency',
      io_logging_sampling_rate: 0.07,
      is_observability_broadcast_enabled: false,
    })
  })

  it('has only what was changed, null for what was emptied', () => {
    const form = workspaceFormOf(workspace)
    expect(workspaceChanges(workspace, form)).toEqual({})
    expect(workspaceChanges(workspace, { ...form, description: ' ', textModel: '', sort: '', loggedKeys: [] })).toEqual({
      description: null,
      default_text_model: null,
      default_provider_sort: null,
      io_logging_api_key_ids: null,
    })
    expect(workspaceChanges(workspace, { ...form, sampling: '', loggedKeys: [7], rates: { requests: '', tokens: '', concurrent: '' } })).toEqual({
      io_logging_sampling_rate: 1,
      io_logging_api_key_ids: [7],
      rate_limits: null,
    })
  })
})

it('a name suggests a slug that the gateway takes', () => {
  expect([slugOf('Research & Ämter 2'), slugOf('--'), slugOf('x'.repeat(49) + ' y')]).toEqual(['research-amter-2', '', 'x'.repeat(49)])
})

describe('budgets', () => {
  const fields = (lifetime: number | '', monthly: number | '', weekly: number | '', daily: number | ''): BudgetFields => ({
    lifetime,
    monthly,
    weekly,
    daily,
  })
  it('are read by their interval', () => {
    const budget = (reset_interval: WorkspaceBudget['reset_interval'], limit_usd: number) => ({ reset_interval, limit_usd }) as WorkspaceBudget
    expect(budgetFieldsOf([budget(null, 9), budget('daily', 1)])).toEqual(fields(9, '', '', 1))
  })

  it('change one by one, and every state between two valid ones is valid', () => {
    const states = [
      fields(100, 50, 20, 5),
      fields(10, 5, 2, 1),
      fields('', '', 200, 150),
      fields(1_000, '', 60, ''),
      fields('', '', '', ''),
      fields(4, 3, 2, 1),
    ]
    for (const before of states) {
      for (const after of states) {
        const held: { [I in Interval]: number | null } = { lifetime: null, monthly: null, weekly: null, daily: null }
        for (const interval of INTERVALS) held[interval] = numberOf(before[interval])
        for (const { interval, limit } of budgetSteps(before, after)) {
          held[interval] = limit
          const limits = INTERVALS.map((one) => held[one]).filter((one) => one !== null)
          expect(limits).toEqual(limits.toSorted((a, b) => b - a))
          expect(new Set(limits).size).toBe(limits.length)
        }
        expect(held).toEqual(Object.fromEntries(INTERVALS.map((one) => [one, numberOf(after[one])])))
      }
    }
  })

  it('that are unchanged need no step', () => {
    expect(budgetSteps(fields(1, '', '', ''), fields(1, '', '', ''))).toEqual([])
  })

  it('carry the setting for own provider keys on an existing budget', () => {
    expect(byokStep(fields('', 5, '', 1))).toEqual({ interval: 'monthly', limit: 5 })
    expect(byokStep(fields('', '', '', ''))).toBeUndefined()
  })

  it('carry the setting for own provider keys only if it was changed', () => {
    expect([budgetBody(5, true, true), budgetBody(5, false, true)]).toEqual([{ limit_usd: 5 }, { limit_usd: 5, include_byok_in_budgets: true }])
  })
})

it('what was spent counts calls with own provider keys only if the budgets do', () => {
  const usage = { usage: 40, usage_monthly: 30, usage_weekly: 20, usage_daily: 10 }
  const byok = { byok_usage: 4, byok_usage_monthly: 3, byok_usage_weekly: 2, byok_usage_daily: 1 }
  const spent = { ...workspace, ...usage, ...byok }
  expect(spentOf({ ...spent, include_byok_in_budgets: false })).toEqual({ lifetime: 40, monthly: 30, weekly: 20, daily: 10 })
  expect(spentOf({ ...spent, include_byok_in_budgets: true })).toEqual({ lifetime: 44, monthly: 33, weekly: 22, daily: 11 })
})

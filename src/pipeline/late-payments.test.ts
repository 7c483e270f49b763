import { expect, it } from 'vitest'
import type { Owner } from '../core/call.ts'
import type { CallLimits, SubjectLimits } from '../core/call-limits.ts'
import type { Cost } from '../core/generation.ts'
import { latePayments } from './late-payments.ts'

const owner: Owner = { workspaceId: 'w', keyHash: 'a', keyName: 'key', keyLabel: 'label' }
const call = { owner } as Parameters<typeof latePayments>[1]
/** Two fifths of it are on the caller's own account. */
const cost: Cost = { total: 0.5, input: 0.25, output: 0.25, cacheDiscount: 0, byok: 0.2, source: 'catalog' }
const limit = (subject: string, includeByok: boolean, budgets: SubjectLimits['budgets'] = [{ interval: 'daily', limitUsd: 1 }]): SubjectLimits => ({
  kind: 'key',
  subject,
  revision: 1,
  requestsPerMinute: 5,
  budgets,
  includeByok,
})
const late = (now: CallLimits | undefined, known: CallLimits = [], what: Cost = cost) => latePayments({ limitsOf: () => now }, call, what, known)

it('a late payment is what the gateway paid where own keys do not count, and everything where they do', () => {
  expect(late([limit('key:a', false), limit('key:a+byok', true)])).toEqual([
    { subject: 'key:a', spentUsd: 0.3, rates: [] },
    { subject: 'key:a+byok', spentUsd: 0.5, rates: [] },
  ])
})

it('a late payment excludes budgets known when the call began, and limits without money', () => {
  expect(late([limit('key:a', false), limit('workspace:w', false)], [limit('key:a', false)]).map(({ subject }) => subject)).toEqual(['workspace:w'])
  expect(late([limit('key:a', false, [])])).toEqual([])
  expect(late([limit('key:a', true)], [], { ...cost, total: 0 })).toEqual([])
  expect(late(undefined)).toEqual([])
})

it('there is no late payment where the limits cannot be read at the moment', () => {
  const limitsOf = (): never => {
    throw new Error('away')
  }
  expect(latePayments({ limitsOf }, call, cost, [])).toEqual([])
})

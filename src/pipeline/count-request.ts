import type { Owner } from '../core/call.ts'
import type { CallLimits } from '../core/call-limits.ts'
import type { Counter } from '../core/counter.ts'
import { refusal } from './limit-refusal.ts'

export interface CountRequestOptions {
  readonly counter: Counter
  readonly limitsOf: (owner: Owner) => CallLimits | undefined
}

/**
 * Counts a request that asks no model against its caller's requests per minute. `id`: unique, and one that no caller can choose; `now`: milliseconds
 * since the epoch. Rejects with GatewayError `rate_limit_exceeded` when there are too many.
 */
export type CountRequest = (owner: Owner, id: string, now: number) => Promise<void>

export function createCountRequest({ counter, limitsOf }: CountRequestOptions): CountRequest {
  return async (owner, id, now) => {
    const limits = limitsOf(owner)?.filter(({ requestsPerMinute }) => requestsPerMinute !== undefined) ?? []
    if (limits.length === 0) return
    const verdict = await counter.reserve({
      id,
      now,
      charges: limits.map(({ subject, revision, requestsPerMinute = 1 }) => ({
        subject,
        revision,
        rates: [{ name: 'requests', limit: requestsPerMinute, cost: 1 }],
        budgets: [],
      })),
    })
    if (!verdict.ok) throw refusal(verdict, limits, now)
    await counter.settle({ id, now, payments: limits.map(({ subject }) => ({ subject, spentUsd: 0, rates: [] })) })
  }
}

import { INTERVALS, type Interval } from './counter.ts'
import type { ApiKey, Workspace } from './store.ts'

/** Limits in the `settings` of keys and workspaces, by their contract names. A row that was edited by hand never causes a reader to fail. */

/** The largest amount in USD that may be set: a limit, a budget. */
export const MAX_AMOUNT_USD = 1e9

/** A budget in `workspace.settings.budgets`, by interval. */
export interface StoredBudget {
  readonly id: string
  readonly limit_usd: number
  /** The operator has set it, so the workspace itself cannot change it. */
  readonly by_operator?: true
  /** Milliseconds since the epoch. */
  readonly created_at: number
  readonly updated_at: number
}

export type StoredBudgets = { readonly [I in Interval]?: StoredBudget }

/** The budgets of a workspace; invalid entries (of a row that was edited by hand) are omitted. */
export function budgetsOf(workspace: Pick<Workspace, 'settings'>): StoredBudgets {
  const stored = workspace.settings['budgets']
  if (typeof stored !== 'object' || stored === null) return {}
  const budgets: { [I in Interval]?: StoredBudget } = {}
  for (const interval of INTERVALS) {
    const budget = (stored as { readonly [interval: string]: unknown })[interval]
    if (typeof budget === 'object' && budget !== null && isAmount((budget as StoredBudget).limit_usd)) budgets[interval] = budget as StoredBudget
  }
  return budgets
}

/** How often a key's credit limit renews: the interval of its budget. */
export function resetOf(key: Pick<ApiKey, 'settings'>): Interval {
  const reset = key.settings['limit_reset']
  return reset === 'daily' || reset === 'weekly' || reset === 'monthly' ? reset : 'lifetime'
}

/** The key's credit limit in USD; undefined: none. */
export function creditLimitOf(key: Pick<ApiKey, 'settings'>): number | undefined {
  const limit = key.settings['limit']
  return isAmount(limit) ? limit : undefined
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** Rate limits that the contract does not have (`settings.rate_limits`): per minute, and concurrent. */
export interface RateLimitSettings {
  readonly requests_per_minute?: number
  readonly tokens_per_minute?: number
  readonly concurrent_requests?: number
}

export function rateLimitsOf({ settings }: Pick<ApiKey, 'settings'>): RateLimitSettings {
  const stored = settings['rate_limits']
  if (typeof stored !== 'object' || stored === null) return {}
  const limits: { -readonly [N in keyof RateLimitSettings]?: number } = {}
  for (const name of ['requests_per_minute', 'tokens_per_minute', 'concurrent_requests'] as const) {
    const value = (stored as { readonly [name: string]: unknown })[name]
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) limits[name] = value
  }
  return limits
}

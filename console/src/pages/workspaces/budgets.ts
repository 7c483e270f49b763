import type { UpsertWorkspaceBudgetRequest, Workspace, WorkspaceBudget } from '../../api/schema.ts'
import { fieldOf, numberOf, type NumberField } from '../../lib/fields.ts'

/** From the broadest to the narrowest. */
export const INTERVALS = ['lifetime', 'monthly', 'weekly', 'daily'] as const
export type Interval = (typeof INTERVALS)[number]

export type BudgetFields = { readonly [I in Interval]: NumberField }

const intervalOf = ({ reset_interval: reset }: WorkspaceBudget): Interval => reset ?? 'lifetime'

export function budgetFieldsOf(budgets: readonly WorkspaceBudget[]): BudgetFields {
  const limitOf = (interval: Interval): NumberField => fieldOf(budgets.find((budget) => intervalOf(budget) === interval)?.limit_usd)
  return { lifetime: limitOf('lifetime'), monthly: limitOf('monthly'), weekly: limitOf('weekly'), daily: limitOf('daily') }
}

/** One request: a limit in USD to set, or null to remove it. */
export interface BudgetStep {
  readonly interval: Interval
  readonly limit: number | null
}

/**
 * The steps from one set of budgets to another. The gateway accepts one change at a time, and refuses a budget for a shorter interval that is not smaller
 * than one for a longer interval, even temporarily. So removals come first, then decreases from the shortest interval up, then increases from the longest
 * down, and new budgets last.
 */
export function budgetSteps(before: BudgetFields, after: BudgetFields): readonly BudgetStep[] {
  const changes = INTERVALS.map((interval) => ({ interval, from: numberOf(before[interval]), limit: numberOf(after[interval]) })).filter(
    ({ from, limit }) => from !== limit,
  )
  const removed = changes.filter(({ limit }) => limit === null)
  const smaller = changes.filter(({ from, limit }) => from !== null && limit !== null && limit < from).reverse()
  const larger = changes.filter(({ from, limit }) => from !== null && limit !== null && !(limit < from))
  const added = changes.filter(({ from, limit }) => from === null && limit !== null)
  return [...removed, ...smaller, ...larger, ...added].map(({ interval, limit }) => ({ interval, limit }))
}

/** Whether own provider keys count is sent along with a budget: with a changed one, or otherwise with an unchanged one. */
export function byokStep(after: BudgetFields): BudgetStep | undefined {
  const interval = INTERVALS.find((one) => numberOf(after[one]) !== null)
  return interval === undefined ? undefined : { interval, limit: numberOf(after[interval]) }
}

/** The body that sets a budget. Whether own provider keys count is only sent if it was changed: it applies to all budgets, and others may have changed it. */
export const budgetBody = (limit: number, byokBefore: boolean, byokNow: boolean): UpsertWorkspaceBudgetRequest => ({
  limit_usd: limit,
  ...(byokBefore === byokNow ? {} : { include_byok_in_budgets: byokNow }),
})

export type SpentSums = { readonly [I in Interval]: number }

/** USD that counts against the budgets of a workspace: own provider keys only if its budgets include them. */
export function spentOf(of: Workspace): SpentSums {
  const own = of.include_byok_in_budgets ? 1 : 0
  return {
    lifetime: of.usage + own * of.byok_usage,
    monthly: of.usage_monthly + own * of.byok_usage_monthly,
    weekly: of.usage_weekly + own * of.byok_usage_weekly,
    daily: of.usage_daily + own * of.byok_usage_daily,
  }
}

import type { FastifyRequest } from 'fastify'
import { isDeepStrictEqual } from 'node:util'
import type { Interval } from '../../core/counter.ts'
import { GatewayError } from '../../core/error.ts'
import { budgetsOf } from '../../core/limit-settings.ts'
import type { Workspace } from '../../core/store.ts'
import { scopeOf } from './request-input.ts'

/**
 * What the operator lets a workspace spend, its own management keys may read but not change. A workspace that sets limits for itself may also lift
 * them. Who set a limit is stored beside it.
 */

const RATES_ARE_OPERATORS = 'rate_limits_by_operator'

const isOperator = (request: FastifyRequest): boolean => scopeOf(request) === undefined

const refused = (what: string, path?: string): GatewayError =>
  new GatewayError(
    'permission_denied',
    `The operator has set ${what}: only a management key of the default workspace can change that`,
    path === undefined ? {} : { path },
  )

/** The mark of a budget that this caller sets. */
export const budgetMark = (request: FastifyRequest): { readonly by_operator?: true } => (isOperator(request) ? { by_operator: true } : {})

/** Throws GatewayError `permission_denied` unless this caller may change the budget of this interval, and whether calls with own keys count. */
export function checkBudget(request: FastifyRequest, workspace: Workspace, interval: Interval, includesByok?: boolean): void {
  if (isOperator(request)) return
  const budgets = budgetsOf(workspace)
  if (budgets[interval]?.by_operator === true) throw refused(`the ${interval} budget`)
  const counts = workspace.settings['include_byok_in_budgets'] === true
  if (includesByok !== undefined && includesByok !== counts && Object.values(budgets).some((budget) => budget.by_operator === true))
    throw refused('what counts towards a budget', 'include_byok_in_budgets')
}

/** What to store with the rate limits that a body sets. Throws GatewayError `permission_denied` for limits that are not this caller's to change. */
export function rateLimitMark(request: FastifyRequest, before: Workspace['settings'], limits: unknown): Workspace['settings'] {
  if (limits === undefined) return {}
  if (isOperator(request)) return { [RATES_ARE_OPERATORS]: limits !== null }
  if (before[RATES_ARE_OPERATORS] !== true || isDeepStrictEqual(limits, before['rate_limits'])) return {}
  throw refused('the rate limits', 'rate_limits')
}

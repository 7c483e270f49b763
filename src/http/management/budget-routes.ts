import { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import { INTERVALS, type Interval } from '../../core/counter.ts'
import { GatewayError } from '../../core/error.ts'
import { budgetsOf, type StoredBudget, type StoredBudgets } from '../../core/limit-settings.ts'
import type { Workspace } from '../../core/store.ts'
import type { ManagementRoutes } from './app.ts'
import { amountField, isoTime, parseBody, parseInput } from './request-input.ts'
import { findWorkspace, type WorkspaceRouteOptions } from './workspace-routes.ts'

const upsertBody = z.strictObject({
  limit_usd: amountField.refine((amount) => amount > 0, 'more than 0 is expected'),
  include_byok_in_budgets: z.boolean().optional(),
})
const intervalParam = z.object({ id: z.string(), interval: z.enum(INTERVALS) })

type IntervalRequest = FastifyRequest<{ Params: { id: string; interval: string } }>

const intervalOf = (request: IntervalRequest): Interval => parseInput(intervalParam, request.params).interval

/** `/api/v1/workspaces/{id}/budgets` and `/{interval}`. At most one budget per interval, a narrower one below every broader one. */
export function budgetRoutes({ workspaces, refresh, newId, now }: WorkspaceRouteOptions): ManagementRoutes {
  return (app) => {
    app.get<{ Params: { id: string } }>('/api/v1/workspaces/:id/budgets', async (request) => {
      const workspace = await findWorkspace(workspaces, request)
      const budgets = budgetsOf(workspace)
      return {
        data: INTERVALS.flatMap((interval) => {
          const budget = budgets[interval]
          return budget === undefined ? [] : [presentBudget(workspace, interval, budget)]
        }),
        include_byok_in_budgets: includesByok(workspace),
      }
    })

    app.get<{ Params: { id: string; interval: string } }>('/api/v1/workspaces/:id/budgets/:interval', async (request) => {
      const interval = intervalOf(request)
      return answer(await findWorkspace(workspaces, request), interval)
    })

    app.put<{ Params: { id: string; interval: string } }>('/api/v1/workspaces/:id/budgets/:interval', async (request) => {
      const interval = intervalOf(request)
      const body = parseBody(upsertBody, request)
      const { id } = await findWorkspace(workspaces, request)
      const at = now()
      const changed = await workspaces.modify(id, (workspace) => {
        const before = budgetsOf(workspace)
        const budget: StoredBudget = {
          id: before[interval]?.id ?? newId(),
          limit_usd: body.limit_usd,
          created_at: before[interval]?.created_at ?? at,
          updated_at: at,
        }
        const budgets = { ...before, [interval]: budget }
        assertOrder(budgets)
        const byok = body.include_byok_in_budgets === undefined ? {} : { include_byok_in_budgets: body.include_byok_in_budgets }
        return { settings: { ...workspace.settings, ...byok, budgets }, updatedAt: at }
      })
      if (changed === undefined) throw new GatewayError('not_found', 'There is no such workspace')
      await refresh()
      return answer(changed, interval)
    })

    app.delete<{ Params: { id: string; interval: string } }>('/api/v1/workspaces/:id/budgets/:interval', async (request) => {
      const interval = intervalOf(request)
      const { id } = await findWorkspace(workspaces, request)
      await workspaces.modify(id, (workspace) => {
        const { [interval]: removed, ...budgets } = budgetsOf(workspace)
        if (removed === undefined) throw noBudget(interval)
        return { settings: { ...workspace.settings, budgets }, updatedAt: now() }
      })
      await refresh()
      return { deleted: true }
    })
  }
}

const noBudget = (interval: Interval): GatewayError => new GatewayError('not_found', `The workspace has no ${interval} budget`)
const includesByok = ({ settings }: Workspace): boolean => settings['include_byok_in_budgets'] === true

function answer(workspace: Workspace, interval: Interval): object {
  const budget = budgetsOf(workspace)[interval]
  if (budget === undefined) throw noBudget(interval)
  return { data: presentBudget(workspace, interval, budget), include_byok_in_budgets: includesByok(workspace) }
}

/** A budget that a narrower one reaches or exceeds would never be felt. */
function assertOrder(budgets: StoredBudgets): void {
  let broader: { readonly interval: Interval; readonly limit: number } | undefined
  for (const interval of INTERVALS) {
    const limit = budgets[interval]?.limit_usd
    if (limit === undefined) continue
    if (broader !== undefined && limit >= broader.limit) {
      throw new GatewayError(
        'invalid_request',
        `limit_usd: the ${interval} budget (${limit} USD) must be less than the ${broader.interval} budget (${broader.limit} USD)`,
        {
          path: 'limit_usd',
        },
      )
    }
    broader = { interval, limit }
  }
}

function presentBudget(workspace: Workspace, interval: Interval, budget: StoredBudget): object {
  return {
    id: budget.id,
    workspace_id: workspace.id,
    limit_usd: budget.limit_usd,
    reset_interval: interval === 'lifetime' ? null : interval,
    created_at: isoTime(budget.created_at),
    updated_at: isoTime(budget.updated_at),
  }
}

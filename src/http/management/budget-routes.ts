import type { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import { INTERVALS, type Interval } from '../../core/counter.ts'
import { GatewayError } from '../../core/error.ts'
import { budgetsOf, type StoredBudget, type StoredBudgets } from '../../core/limit-settings.ts'
import type { Workspace } from '../../core/store.ts'
import type { ManagementRoutes } from './app.ts'
import { budgetMark, checkBudget } from './operators-limits.ts'
import { deletedAnswer, parseBody, parseInput } from './request-input.ts'
import type { RouteDoc } from './route-doc.ts'
import { findWorkspace, type WorkspaceRouteOptions } from './workspace-routes.ts'
import { budgetAnswer, budgetsAnswer, intervalParam, presentBudget, upsertBudgetBody } from './workspace-shapes.ts'

const tag = 'Workspaces'
const docs = {
  list: { id: 'listWorkspaceBudgets', tag, summary: 'List the budgets of a workspace', answer: budgetsAnswer },
  get: { id: 'getWorkspaceBudget', tag, summary: 'Read a budget', params: intervalParam, answer: budgetAnswer },
  put: {
    id: 'upsertWorkspaceBudget',
    tag,
    summary: 'Set the budget of an interval; each narrower one must be smaller',
    params: intervalParam,
    body: upsertBudgetBody,
    answer: budgetAnswer,
  },
  remove: { id: 'deleteWorkspaceBudget', tag, summary: 'Remove a budget', params: intervalParam, answer: deletedAnswer },
} satisfies { readonly [name: string]: RouteDoc }

type IntervalRequest = FastifyRequest<{ Params: { id: string; interval: string } }>

const intervalOf = (request: IntervalRequest): Interval => parseInput(intervalParam, request.params).interval

/** `/api/v1/workspaces/{id}/budgets` and `/{interval}`. At most one budget per interval, a narrower one below every broader one. */
export function budgetRoutes({ workspaces, refresh, newId, now }: WorkspaceRouteOptions): ManagementRoutes {
  return (app) => {
    app.get<{ Params: { id: string } }>(
      '/api/v1/workspaces/:id/budgets',
      { config: { doc: docs.list } },
      async (request): Promise<z.output<typeof budgetsAnswer>> => {
        const workspace = await findWorkspace(workspaces, request)
        const budgets = budgetsOf(workspace)
        return {
          data: INTERVALS.flatMap((interval) => {
            const budget = budgets[interval]
            return budget === undefined ? [] : [presentBudget(workspace, interval, budget)]
          }),
          include_byok_in_budgets: includesByok(workspace),
        }
      },
    )

    app.get<{ Params: { id: string; interval: string } }>(
      '/api/v1/workspaces/:id/budgets/:interval',
      { config: { doc: docs.get } },
      async (request) => {
        const interval = intervalOf(request)
        return answer(await findWorkspace(workspaces, request), interval)
      },
    )

    app.put<{ Params: { id: string; interval: string } }>(
      '/api/v1/workspaces/:id/budgets/:interval',
      { config: { doc: docs.put } },
      async (request) => {
        const interval = intervalOf(request)
        const body = parseBody(upsertBudgetBody, request)
        const { id } = await findWorkspace(workspaces, request)
        const at = now()
        const changed = await workspaces.modify(id, (workspace) => {
          checkBudget(request, workspace, interval, body.include_byok_in_budgets)
          const before = budgetsOf(workspace)
          const budget: StoredBudget = {
            id: before[interval]?.id ?? newId(),
            limit_usd: body.limit_usd,
            ...budgetMark(request),
            created_at: before[interval]?.created_at ?? at,
            updated_at: Math.max(at, before[interval]?.updated_at ?? at),
          }
          const budgets = { ...before, [interval]: budget }
          assertOrder(budgets)
          const byok = body.include_byok_in_budgets === undefined ? {} : { include_byok_in_budgets: body.include_byok_in_budgets }
          return { settings: { ...workspace.settings, ...byok, budgets }, updatedAt: Math.max(at, workspace.updatedAt) }
        })
        if (changed === undefined) throw new GatewayError('not_found', 'There is no such workspace')
        await refresh()
        return answer(changed, interval)
      },
    )

    app.delete<{ Params: { id: string; interval: string } }>(
      '/api/v1/workspaces/:id/budgets/:interval',
      { config: { doc: docs.remove } },
      async (request) => {
        const interval = intervalOf(request)
        const found = await findWorkspace(workspaces, request)
        // In the contract, deleting a budget that does not exist succeeds.
        if (budgetsOf(found)[interval] === undefined) return { deleted: true }
        await workspaces.modify(found.id, (workspace) => {
          checkBudget(request, workspace, interval)
          const { [interval]: _, ...budgets } = budgetsOf(workspace)
          return { settings: { ...workspace.settings, budgets }, updatedAt: Math.max(now(), workspace.updatedAt) }
        })
        await refresh()
        return { deleted: true }
      },
    )
  }
}

const noBudget = (interval: Interval): GatewayError => new GatewayError('not_found', `The workspace has no ${interval} budget`)
const includesByok = ({ settings }: Workspace): boolean => settings['include_byok_in_budgets'] === true

function answer(workspace: Workspace, interval: Interval): z.output<typeof budgetAnswer> {
  const budget = budgetsOf(workspace)[interval]
  if (budget === undefined) throw noBudget(interval)
  return { data: presentBudget(workspace, interval, budget), include_byok_in_budgets: includesByok(workspace) }
}

/** A budget as large as a broader one, or larger, would never take effect. */
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

import { z } from 'zod'
import { roundedRest, roundUsd } from '../../core/cost.ts'
import { periodStart } from '../../core/counter.ts'
import { GatewayError } from '../../core/error.ts'
import type { ActivityFilter, ActivityRow } from '../../core/store.ts'
import type { ManagementRoutes } from './app.ts'
import { parseQuery, scopeOf, workspaceWanted } from './request-input.ts'
import { component, type RouteDoc } from './route-doc.ts'

export interface UsageRouteOptions {
  readonly activity: (filter: ActivityFilter) => Promise<readonly ActivityRow[]>
  /** Hashes of the keys that a user created, and whether a key exists within a workspace (any, if undefined). */
  readonly keysOfUser: (userId: string, workspaceId: string | undefined) => Promise<readonly string[]>
  readonly hasKey: (hash: string, workspaceId: string | undefined) => Promise<boolean>
  /** USD spent so far with the gateway's credentials, by the installation or by one workspace. */
  readonly spentUsd: (workspaceId: string | undefined) => Promise<number>
  /** USD the installation may spend; undefined: no limit. */
  readonly credits: () => number | undefined
  readonly now: () => number
}

const DAY_MS = 86_400_000
/** Whole days that the report covers before today; today, as far as it has come, is included. */
const DAYS = 30
/** `total_credits` if there is no limit, because the contract requires a number. */
const UNLIMITED_CREDITS = 1_000_000_000

const activityQuery = z.object({
  date: z.iso.date('a date such as 2025-01-31 is expected').optional(),
  api_key_hash: z.string().max(128).optional(),
  user_id: z.string().max(256).optional().describe('Who created the keys.'),
  group_by: z.enum(['workspace']).optional(),
  workspace_id: z.string().min(1, 'the id of a workspace is expected').max(64).optional(),
})

const activityItem = component(
  'ActivityItem',
  z.object({
    date: z.iso.date(),
    model: z.string(),
    model_permaslug: z.string(),
    endpoint_id: z.string(),
    provider_name: z.string(),
    usage: z.number().describe("USD with the gateway's credentials."),
    byok_usage_inference: z.number().describe('USD with own provider keys, by list price.'),
    requests: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    reasoning_tokens: z.int(),
    workspace_id: z.string().optional(),
  }),
)
const activityAnswer = z.object({ data: z.array(activityItem) })
const creditsAnswer = z.object({
  data: z.object({
    total_credits: z.number().describe('USD that may be spent in total; for a key of one workspace, what the others leave.'),
    total_usage: z.number(),
  }),
})

const tag = 'Usage'
const docs = {
  activity: {
    id: 'getUserActivity',
    tag,
    summary: `Usage by day, model and endpoint of the last ${DAYS} days`,
    query: activityQuery,
    answer: activityAnswer,
    errors: { 404: 'No such key or workspace.' },
  },
  credits: { id: 'getCredits', tag, summary: 'Read the credits and what was spent', answer: creditsAnswer },
} satisfies { readonly [name: string]: RouteDoc }

/** `GET /api/v1/activity` and `GET /api/v1/credits`. */
export function usageRoutes(options: UsageRouteOptions): ManagementRoutes {
  return (app) => {
    app.get('/api/v1/activity', { config: { doc: docs.activity } }, async (request): Promise<z.output<typeof activityAnswer>> => {
      const query = parseQuery(activityQuery, request)
      const scope = scopeOf(request)
      const workspaceId = query.workspace_id === undefined ? scope : workspaceWanted(request, query.workspace_id)
      const { from, to } = daysOf(query.date, options.now())
      const keyHashes = await keysWanted(options, query, scope)
      const rows = await options.activity({
        from,
        to,
        ...(workspaceId === undefined ? {} : { workspaceId }),
        ...(keyHashes === undefined ? {} : { keyHashes }),
        acrossWorkspaces: query.group_by !== 'workspace',
      })
      return { data: rows.map(presentActivity) }
    })

    app.get('/api/v1/credits', { config: { doc: docs.credits } }, async (request): Promise<z.output<typeof creditsAnswer>> => {
      const scope = scopeOf(request)
      const credits = options.credits()
      const spent = await options.spentUsd(scope)
      // Credits are shared: without subtracting what others spent, more would seem to be left than there is.
      const byOthers = credits === undefined || scope === undefined ? 0 : (await options.spentUsd(undefined)) - spent
      const total = credits === undefined ? UNLIMITED_CREDITS : Math.max(0, roundedRest(credits, byOthers))
      return { data: { total_credits: total, total_usage: roundUsd(spent) } }
    })
  }
}

function daysOf(date: string | undefined, now: number): { readonly from: number; readonly to: number } {
  const today = periodStart('daily', now)
  if (date === undefined) return { from: today - DAYS * DAY_MS, to: today + DAY_MS }
  const day = Date.parse(date)
  if (day > today || day < today - DAYS * DAY_MS) {
    throw new GatewayError('invalid_request', `date: a day of the last ${DAYS} is expected`, { path: 'date' })
  }
  return { from: day, to: day + DAY_MS }
}

async function keysWanted(
  options: UsageRouteOptions,
  query: { readonly api_key_hash?: string | undefined; readonly user_id?: string | undefined },
  scope: string | undefined,
): Promise<readonly string[] | undefined> {
  const { api_key_hash: hash, user_id: userId } = query
  if (hash !== undefined && !(await options.hasKey(hash, scope))) throw new GatewayError('not_found', 'There is no such key')
  if (userId === undefined) return hash === undefined ? undefined : [hash]
  const hashes = await options.keysOfUser(userId, scope)
  return hash === undefined ? hashes : hashes.filter((one) => one === hash)
}

function presentActivity(row: ActivityRow): z.output<typeof activityItem> {
  return {
    date: new Date(row.day).toISOString().slice(0, 10),
    model: row.model,
    model_permaslug: row.model,
    endpoint_id: row.endpointId,
    provider_name: row.providerName,
    usage: roundUsd(row.usd),
    byok_usage_inference: roundUsd(row.byokUsd),
    requests: row.requests,
    prompt_tokens: row.inputTokens,
    completion_tokens: row.outputTokens,
    reasoning_tokens: row.reasoningTokens,
    ...(row.workspaceId === undefined ? {} : { workspace_id: row.workspaceId }),
  }
}

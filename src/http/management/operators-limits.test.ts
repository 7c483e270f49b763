import { afterAll, expect, it } from 'vitest'
import type { Workspace, WorkspacePatch, WorkspaceStore } from '../../core/store.ts'
import { DEFAULT_WORKSPACE_ID } from '../../core/store.ts'
import { createManagementApp } from './app.ts'
import { budgetRoutes } from './budget-routes.ts'
import { workspaceRoutes, type WorkspaceRouteOptions } from './workspace-routes.ts'

/** A workspace and two management keys: that of the operator, and that of the workspace itself. */
const OWN = 'tenant'
let workspace: Workspace = { id: OWN, slug: OWN, name: OWN, description: null, isDefault: false, createdAt: 0, updatedAt: 0, settings: {} }
const workspaces: Partial<WorkspaceStore> = {
  get: () => Promise.resolve(workspace),
  modify: async (_id: string, change: (before: Workspace) => WorkspacePatch) => (workspace = { ...workspace, ...change(workspace) }),
}
const options: WorkspaceRouteOptions = {
  workspaces: workspaces as WorkspaceStore,
  spendOf: () => Promise.resolve(new Map()),
  refresh: () => Promise.resolve(),
  newId: () => 'id',
  now: () => 0,
  bindsSlug: () => false,
}
let caller = ''
const app = createManagementApp(
  {
    authenticate: () => ({ owner: { workspaceId: caller, keyHash: 'm' }, key: { kind: 'management' } }) as never,
    onBug: () => undefined,
    newRequestId: () => 'r',
    bodyLimitBytes: 1_000,
  },
  [budgetRoutes(options), workspaceRoutes(options)],
)
afterAll(() => app.close())

async function ask(who: string, method: 'PUT' | 'DELETE' | 'PATCH', path: string, payload?: object): Promise<number> {
  caller = who
  const { statusCode } = await app.inject({ method, url: `/api/v1/workspaces/${OWN}${path}`, ...(payload === undefined ? {} : { payload }) })
  return statusCode
}

it('a workspace changes its own budgets, and none that the operator has set (F2)', async () => {
  expect(await ask(OWN, 'PUT', '/budgets/daily', { limit_usd: 1 })).toBe(200)
  expect(await ask(OWN, 'PUT', '/budgets/daily', { limit_usd: 2 })).toBe(200)
  expect(await ask(DEFAULT_WORKSPACE_ID, 'PUT', '/budgets/monthly', { limit_usd: 10, include_byok_in_budgets: true })).toBe(200)
  expect(await ask(OWN, 'PUT', '/budgets/monthly', { limit_usd: 1e9 })).toBe(403)
  expect(await ask(OWN, 'DELETE', '/budgets/monthly')).toBe(403)
  expect(await ask(OWN, 'PUT', '/budgets/daily', { limit_usd: 2, include_byok_in_budgets: false })).toBe(403)
  expect(await ask(OWN, 'DELETE', '/budgets/daily')).toBe(200)
  expect(await ask(DEFAULT_WORKSPACE_ID, 'DELETE', '/budgets/monthly')).toBe(200)
  expect(await ask(OWN, 'PUT', '/budgets/monthly', { limit_usd: 5 })).toBe(200)
})

it('the same for its rate limits (F2)', async () => {
  expect(await ask(OWN, 'PATCH', '', { rate_limits: { requests_per_minute: 5 } })).toBe(200)
  expect(await ask(DEFAULT_WORKSPACE_ID, 'PATCH', '', { rate_limits: { requests_per_minute: 9 } })).toBe(200)
  expect(await ask(OWN, 'PATCH', '', { rate_limits: null })).toBe(403)
  expect(await ask(OWN, 'PATCH', '', { name: 'new', rate_limits: { requests_per_minute: 9 } })).toBe(200)
  expect(await ask(DEFAULT_WORKSPACE_ID, 'PATCH', '', { rate_limits: null })).toBe(200)
  expect(await ask(OWN, 'PATCH', '', { rate_limits: { requests_per_minute: 99 } })).toBe(200)
})

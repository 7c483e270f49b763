import { randomUUID } from 'node:crypto'
import { bindsKeyName, bindsSlug } from '../accounts/configured-names.ts'
import { createFindContent } from '../accounts/find-generation.ts'
import type { OwnerDefaults } from '../accounts/routing-defaults.ts'
import { withChoice, type ChoiceScene, type ExplainedChoice } from './choosing.ts'
import type { OwnKeyAccounts, KeyAccounts } from '../core/account.ts'
import type { CallLimits } from '../core/call-limits.ts'
import type { Owner } from '../core/call.ts'
import type { Config } from '../core/config.ts'
import type { Generation } from '../core/generation.ts'
import { isNameOf } from '../core/provider-names.ts'
import type { ModelRequest } from '../core/request.ts'
import type { SpendFigures, Store } from '../core/store.ts'
import type { BuiltCatalog } from '../catalog/build.ts'
import type { ManagementRoutes } from '../http/management/app.ts'
import { budgetRoutes } from '../http/management/budget-routes.ts'
import { byokRoutes } from '../http/management/byok-routes.ts'
import { contentRoutes } from '../http/management/content-routes.ts'
import { countTokensRoutes } from '../http/management/count-tokens-routes.ts'
import { explainRoutes } from '../http/management/explain-routes.ts'
import { keyRoutes } from '../http/management/key-routes.ts'
import { usageRoutes } from '../http/management/usage-routes.ts'
import { workspaceRoutes, type WorkspaceRouteOptions } from '../http/management/workspace-routes.ts'
import { loadPins } from '../pipeline/call-route.ts'
import { compileEndpointRule } from '../pipeline/guardrails/endpoint-rules.ts'
import type { OwnCredentials } from '../pipeline/own-credentials.ts'
import type { Policies } from './policies.ts'
import { createSettled } from './settled.ts'
import { PROVIDERS } from '../providers/index.ts'
import { estimateRequest } from '../router/estimate.ts'
import { explainPlan, type RouteExplanation } from '../router/explain.ts'
import type { Health } from '../router/health.ts'
import { modelNames, planRoute, type PlanInput } from '../router/plan.ts'
import type { Sticky } from '../router/sticky.ts'
import type { WriteBehindSink } from '../store/index.ts'

/** What people manage by API (keys, workspaces, budgets, own keys) and may ask (usage, credits, plans). */
export interface AccountDependencies {
  readonly config: () => Config
  readonly catalog: () => BuiltCatalog
  readonly store: Store
  readonly accounts: KeyAccounts
  readonly ownKeys: OwnKeyAccounts
  readonly ownCredentials: (call: { readonly owner: Owner }) => OwnCredentials | undefined
  readonly limitsOf: (owner: Owner) => CallLimits | undefined
  readonly sink: WriteBehindSink
  /** A generation of one workspace (of any, if undefined). Waits if it may still be on its way to the store. */
  readonly findGeneration: (id: string, workspaceId: string | undefined) => Promise<Generation | undefined>
  readonly health: Health
  readonly sticky: Sticky
  readonly policies: Policies
  /** What workspace and configuration add to a request. */
  readonly defaults: (owner: Owner) => OwnerDefaults
  /** How plugins can adapt a request to endpoints that do not take it as it is. */
  readonly reach: (request: ModelRequest) => PlanInput['adaptation']
  /** Which models plugins choose for it. */
  readonly choose: (request: ModelRequest, scene: ChoiceScene) => Promise<ExplainedChoice>
  /** Brings the snapshot of keys and workspaces up to date. */
  readonly refresh: () => Promise<void>
}

export function accountRoutes(deps: AccountDependencies): readonly ManagementRoutes[] {
  const { store, accounts, sink } = deps
  const now = (): number => Date.now()
  const hasKey = async (hash: string, workspaceId: string | undefined): Promise<boolean> => (await accounts.get(hash, workspaceId)) !== undefined
  const settled = createSettled(sink)
  /** What subjects of one kind have spent, by the rest of their name. */
  const spendOf =
    (kind: string) =>
    async (ids: readonly string[]): Promise<ReadonlyMap<string, SpendFigures>> => {
      await settled()
      const spend = await store.spend.ofMany(
        ids.map((id) => `${kind}:${id}`),
        now(),
      )
      return new Map([...spend].map(([subject, figures]) => [subject.slice(kind.length + 1), figures]))
    }
  const workspaces: WorkspaceRouteOptions = {
    workspaces: store.workspaces,
    spendOf: spendOf('workspace'),
    // The change is stored. If the snapshot cannot be read at once, it follows within its interval.
    refresh: () => deps.refresh().catch(() => undefined),
    newId: randomUUID,
    now,
    bindsSlug: (slug) => bindsSlug(deps.config().guardrails.rules, slug),
  }
  return [
    keyRoutes({
      accounts,
      spendOf: spendOf('key'),
      limitsOf: deps.limitsOf,
      bindsName: (name) => bindsKeyName(deps.config().guardrails.rules, name),
      now,
    }),
    workspaceRoutes(workspaces),
    budgetRoutes(workspaces),
    byokRoutes({
      ownKeys: deps.ownKeys,
      providerNamed: (text) => {
        const known = [...deps.catalog().providers, ...PROVIDERS]
        return (known.find(({ slug }) => slug === text) ?? known.find((provider) => isNameOf(text, provider)))?.slug
      },
      operatorPays: (provider) => deps.catalog().providers.some((known) => known.slug === provider && known.operatorPays === true),
      hasKey,
    }),
    usageRoutes({
      activity: async (filter) => {
        await settled()
        return store.spend.activity(filter)
      },
      keysOfUser: async (creatorUserId, workspaceId) =>
        (await accounts.list({ includeRevoked: true, creatorUserId, ...(workspaceId === undefined ? {} : { workspaceId }) })).map(({ hash }) => hash),
      hasKey,
      spentUsd: async (workspaceId) => {
        await settled()
        return (await store.spend.of(workspaceId === undefined ? 'installation' : `workspace:${workspaceId}`, now())).usd.lifetime
      },
      credits: () => deps.config().limits.credits,
      now,
    }),
    contentRoutes({
      find: createFindContent({
        find: deps.findGeneration,
        isPending: (id, workspaceId) => sink.pending(id, workspaceId) !== undefined,
        settled,
        contentOf: (id, workspaceId) => store.generations.content(id, workspaceId),
      }),
    }),
    countTokensRoutes({
      estimate: (request) => estimateRequest(request).inputTokens,
      presets: deps.policies.presets,
      bodyLimitBytes: deps.config().server.bodyLimit,
    }),
    explainRoutes({
      explain: (request, owner, sessionId) => explain(deps, request, owner, sessionId),
      presets: deps.policies.presets,
      sessionHeaders: () => deps.config().routing.session_headers,
      bodyLimitBytes: deps.config().server.bodyLimit,
    }),
  ]
}

/** What a call of this owner would do now. Draws no random number, pins nothing and counts nothing. */
async function explain(deps: AccountDependencies, sent: ModelRequest, owner: Owner, sessionId: string | undefined): Promise<RouteExplanation> {
  const defaults = deps.defaults(owner)
  const model = sent.model ?? modelNames(sent, defaults)[0]
  const requested = model === undefined ? sent : { ...sent, model }
  const view = deps.health.view()
  const admits = compileEndpointRule(deps.policies.guardrails.of(owner) ?? [])
  const choice = await deps.choose(requested, { owner, defaults, sessionId, ...(admits === undefined ? {} : { admits }) })
  const { request, strategy } = choice
  const catalog = deps.catalog()
  const session = defaults.sticky ? deps.sticky.open(owner.workspaceId, request, sessionId) : undefined
  if (session !== undefined) await loadPins(deps.sticky, session, { request, defaults, catalog })
  const own = deps.ownCredentials({ owner })
  const plan = planRoute({
    request,
    catalog,
    health: view,
    random: Math.random,
    now: Date.now(),
    defaults,
    adaptation: deps.reach(requested),
    ...(strategy === undefined ? {} : { strategy }),
    ...(session === undefined ? {} : { session }),
    ...(own === undefined ? {} : { ownKeys: own.use }),
    ...(admits === undefined ? {} : { admits }),
  })
  return withChoice(explainPlan(plan, request, view), requested, choice)
}

import type { Adaptation, AttemptRecord, Call, Owner, StreamFailure } from '../core/call.ts'
import type { Catalog, Model, Pricing } from '../core/endpoint.ts'
import type { Cost } from '../core/generation.ts'
import type { Credential } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'
import type { Try } from '../router/failover.ts'
import type { Health } from '../router/health.ts'
import { modelNames, planRoute, type Plan, type PlannedAttempt, type RoutingDefaults } from '../router/plan.ts'
import type { Sticky, StickySession } from '../router/sticky.ts'
import { resolveModel } from '../router/variants.ts'
import type { OwnCredentials } from './own-credentials.ts'
import { Continuation, goesOn } from './stream-failure.ts'

/** What planning needs. */
export interface PlanningOptions {
  /** The current snapshot; replaced as a whole on reload. */
  readonly catalog: () => Catalog
  /** What workspace and configuration add to a request. */
  readonly defaults: (owner: Owner) => RoutingDefaults
  /** For callers who do not say. Default `fail`. */
  readonly streamFailure?: () => StreamFailure
  /** What a usage costs at an endpoint's prices: if several endpoints write an answer, each is paid at its own. */
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  readonly health: Health
  readonly sticky: Sticky
  /** How requests are adapted to endpoints that cannot take them as they are, for calls that do not say. */
  readonly adaptation?: () => Adaptation | undefined
  /** The caller's own provider keys; undefined when there are none. */
  readonly ownCredentials?: (call: Call) => OwnCredentials | undefined
}

/** What one call accumulates while it is being tried. */
export interface Route {
  readonly plan: Plan
  readonly session: StickySession | undefined
  readonly tries: Try[]
  readonly own: OwnCredentials | undefined
  readonly adaptation: Adaptation | undefined
  /** Credentials this call can no longer use, by provider or by endpoint; own keys apart. See `usedBy`. */
  readonly used: Map<string, Set<string>>
  request: ModelRequest
  strippedReasoning: boolean
  beginBy: number | undefined
  readonly buffers: boolean
  /** For callers who opted into continuation. */
  readonly continuation: Continuation | undefined
}

/** Plans the call. Throws the error for the caller if no endpoint may serve it. */
export async function planCall(options: PlanningOptions, call: Call): Promise<Route> {
  const request = readableOf(call)
  const defaults = options.defaults(call.owner)
  const catalog = options.catalog()
  const session = defaults.sticky === false ? undefined : options.sticky.open(call.owner.workspaceId, request, call.sessionId)
  if (session !== undefined) {
    await loadPins(options.sticky, session, { request: call.request, defaults, catalog })
  }
  const own = options.ownCredentials?.(call)
  const adaptation = call.adaptation ?? options.adaptation?.()
  const planAmong = (models: Catalog): Plan =>
    planRoute({
      request,
      catalog: models,
      health: options.health.view(),
      random: call.random,
      now: call.clock.now(),
      defaults,
      ...(session === undefined ? {} : { session }),
      ...(own === undefined ? {} : { ownKeys: own.use }),
      ...(call.admits === undefined ? {} : { admits: call.admits }),
      ...(adaptation === undefined ? {} : { adaptation }),
      ...(call.strategy === undefined ? {} : { strategy: call.strategy }),
      served: call.preferredEndpoint,
    })
  const planned = lastingPlan(planAmong, catalog, call.catalogAtStart)
  call.trace.strategy = planned.strategy
  call.trace.candidates = planned.candidates
  call.trace.rejected = planned.rejected
  Object.assign(call.trace.params, planned.params)
  if (planned.error !== undefined) throw planned.error
  const plan = preferring(planned, call.preferredEndpoint)
  const mode = failureModeOf(call, options, plan)
  return {
    plan,
    session,
    own,
    adaptation,
    tries: [],
    used: new Map(),
    request,
    strippedReasoning: false,
    beginBy: undefined,
    // A JSON caller sees nothing before the end, so an answer that breaks is replaced and never shown.
    buffers: mode === 'buffer' || (mode === 'fail' && !call.stream),
    continuation: mode === 'continue' ? new Continuation(options.costOf) : undefined,
  }
}

/** The plan with the models of now. If a reload took what the call goes on with, its earlier steps are paid for, so it ends with those it began with. */
function lastingPlan(planAmong: (models: Catalog) => Plan, now: Catalog, atStart: Catalog | undefined): Plan {
  const planned = planAmong(now)
  if (planned.error === undefined || atStart === undefined || atStart === now) return planned
  const before = planAmong(atStart)
  return before.error === undefined ? before : planned
}

/** The models of these names as a call is routed to them: those of its beginning if a reload took all of them. */
export function routedModels(names: readonly string[], now: Catalog, atStart: Catalog | undefined): readonly Model[] {
  const modelsIn = (catalog: Catalog): readonly Model[] => names.flatMap((name) => resolveModel(name, catalog)?.model ?? [])
  const models = modelsIn(now)
  return models.length > 0 || atStart === undefined ? models : modelsIn(atStart)
}

/**
 * What happens to an answer that breaks. One with tools or a schema can hardly ever be continued, and none where every further endpoint is known to
 * start over; a JSON caller has seen nothing of it, and gets all of it from another endpoint.
 */
function failureModeOf({ streamFailure, stream, request }: Call, options: PlanningOptions, { attempts }: Plan): StreamFailure {
  const mode = streamFailure ?? options.streamFailure?.() ?? 'fail'
  if (mode !== 'continue' || stream) return mode
  const { tools = [], text } = request
  if (tools.length > 0 || (text?.format?.type ?? 'text') !== 'text') return 'fail'
  return attempts.slice(1).some(({ endpoint }) => goesOn(endpoint, request)) ? mode : 'fail'
}

/** Items that were refused in one turn are not sent again in the next. */
function readableOf({ request, trace: { unreadable } }: Call): ModelRequest {
  return unreadable === undefined ? request : { ...request, input: request.input.filter((item) => !unreadable.has(item)) }
}

/** The plan with the endpoint of the previous turn first, if it is still among the attempts. */
function preferring(plan: Plan, endpointId: string | undefined): Plan {
  const index = endpointId === undefined ? -1 : plan.attempts.findIndex(({ endpoint }) => endpoint.id === endpointId)
  if (index <= 0) return plan
  return { ...plan, attempts: [plan.attempts[index]!, ...plan.attempts.slice(0, index), ...plan.attempts.slice(index + 1)] }
}

/** Loads pins that other processes have set. Waits only if the pin store is shared. */
export async function loadPins(
  sticky: Sticky,
  session: StickySession,
  { request, defaults, catalog }: { readonly request: ModelRequest; readonly defaults: RoutingDefaults; readonly catalog: Catalog },
): Promise<void> {
  if (!sticky.shared) return
  const models = modelNames(request, defaults).flatMap((name) => resolveModel(name, catalog)?.model.slug ?? [])
  await sticky.load(session, models)
}

/** A caller's own keys are counted apart from the operator's. */
const providerKey = ({ endpoint, isByok }: PlannedAttempt): string => (isByok ? `own ${endpoint.connection.provider}` : endpoint.connection.provider)
const endpointKey = (attempt: PlannedAttempt): string => `${providerKey(attempt)} ${attempt.endpoint.id}`

const NONE: ReadonlySet<string> = new Set()

/** Credentials that an attempt may no longer use. */
export function usedBy({ used }: Route, attempt: PlannedAttempt): ReadonlySet<string> {
  if (used.size === 0) return NONE
  return new Set([...(used.get(providerKey(attempt)) ?? []), ...(used.get(endpointKey(attempt)) ?? [])])
}

/**
 * Keeps a refused credential from being sent again. A dead one is put aside for the whole provider. One that is limited, or may not use this model,
 * may still serve the provider's other models, which vendors grant and limit one by one.
 */
export function putAside({ used }: Route, attempt: PlannedAttempt, credential: string, dead: boolean): void {
  const key = dead ? providerKey(attempt) : endpointKey(attempt)
  const known = used.get(key)
  if (known === undefined) used.set(key, new Set([credential]))
  else known.add(credential)
}

/** The credential that hit the endpoint's limit last. */
function lastLimited(attempt: PlannedAttempt, sent: readonly AttemptRecord[]): string | undefined {
  return sent.findLast(
    ({ endpoint, isByok = false, error }) => endpoint === attempt.endpoint && isByok === attempt.isByok && error?.type === 'rate_limit_exceeded',
  )?.credentialId
}

/** Makes it usable again, after its limit was waited out. */
export function takeBack({ used }: Route, attempt: PlannedAttempt, sent: readonly AttemptRecord[]): void {
  const last = lastLimited(attempt, sent)
  if (last !== undefined) used.get(endpointKey(attempt))?.delete(last)
}

/** Whether it was found dead meanwhile, so that it cannot be used again. */
export function isLost({ used }: Route, attempt: PlannedAttempt, sent: readonly AttemptRecord[]): boolean {
  const last = lastLimited(attempt, sent)
  return last !== undefined && used.get(providerKey(attempt))?.has(last) === true
}

export const ownOf = (route: Route, { endpoint, isByok }: PlannedAttempt): readonly Credential[] | undefined =>
  isByok ? route.own?.of(endpoint) : undefined

import type { Adaptation, CallTrace } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Catalog, Endpoint } from '../core/endpoint.ts'
import { asGatewayError, GatewayError } from '../core/error.ts'
import type { ModelRequest, ProviderPreferences, SortKey } from '../core/request.ts'
import { notesOf } from './attempt-notes.ts'
import { columnsOf } from './columns.ts'
import { estimateRequest } from './estimate.ts'
import type { RequestEstimate } from './estimate.ts'
import { droppedParameters, SLACK, suitsOnlyAdapted, tiersAdmitted } from './filter.ts'
import type { Group } from './filter.ts'
import type { EndpointState, HealthView } from './health.ts'
import type { Ranked } from './places.ts'
import { compileDemand } from './prefer.ts'
import type { Demand } from './prefer.ts'
import { sortFor } from './rank.ts'
import type { OwnKeyUse, RankContext, RankSession } from './rank.ts'
import { namedButOff, nothingLeft, rejections, unknownModel } from './refuse.ts'
import { select } from './select.ts'
import type { Selection } from './select.ts'
import { resolveModel } from './variants.ts'
import type { ResolvedModel } from './variants.ts'

/** What key, workspace and configuration add to a request. */
export interface RoutingDefaults {
  /** For requests that name no model. */
  readonly model?: string
  /** For those that want images. */
  readonly imageModel?: string
  /** How long prompts of conversations are to be cached whose callers do not say; undefined: not at all. */
  readonly promptCaching?: '5m' | '1h'
  /** Preferences of key and workspace; see `compileDemand` for how they combine with the caller's. */
  readonly provider?: ProviderPreferences | null
  /** `routing.cooldown: false` plans as if nothing were known about any endpoint's health. */
  readonly cooldown?: boolean
  /** `routing.sticky: false` ignores the session. */
  readonly sticky?: boolean
}

export interface PlanInput {
  readonly request: ModelRequest
  readonly catalog: Catalog
  readonly health?: HealthView
  /** The call's session (`Sticky.open`), or undefined. */
  readonly session?: RankSession
  readonly random: () => number
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly defaults?: RoutingDefaults
  /** How the caller's own keys serve an endpoint; only keys that this call may use. */
  readonly ownKeys?: (endpoint: Endpoint) => OwnKeyUse | undefined
  /** Set when another part of the gateway chose the model (auto, pareto, fusion, ...). */
  readonly strategy?: CallTrace['strategy']
  /** How the request can be adapted for endpoints that cannot take it as it is. */
  readonly adaptation?: Pick<Adaptation, 'modalities' | 'shortensUpTo'> | undefined
  /** Why an endpoint may not serve the call (`call.admits`). */
  readonly admits?: Demand['admits']
  /** `estimateRequest(request)`, if it is known already. */
  readonly estimate?: RequestEstimate
  /** Id of the endpoint that served the previous turn of the same answer: a call that allows only one endpoint wants it for all turns. */
  readonly served?: string | undefined
}

export interface PlannedAttempt {
  readonly endpoint: Endpoint
  /** Slug of the model it serves. */
  readonly model: string
  /** The model name in the request that led here. */
  readonly requested: string
  readonly isByok: boolean
  /** The name asked for web results (`:online`). */
  readonly online: boolean
  readonly pinned: boolean
  readonly state: EndpointState
  /** Parameters of the request this endpoint does not support. */
  readonly dropped: readonly string[]
  /** It takes the request only after an adaptation. */
  readonly adapt: boolean
  /** Why it has its place, in words. */
  readonly notes: readonly string[]
  /** Its share of the first tries of its model, which are drawn by price. Undefined: the order is fixed. */
  readonly share: number | undefined
  /** The price by which it was balanced and sorted: USD for a million prompt plus a million completion tokens. */
  readonly price: number
}

/** The ordered attempts of a call, and why every other endpoint is not among them. A value: planning again gives the same. */
export interface Plan {
  readonly requested: string
  readonly strategy: CallTrace['strategy']
  readonly attempts: readonly PlannedAttempt[]
  /** All endpoints of the models asked for. */
  readonly candidates: readonly Endpoint[]
  /** By endpoint id; the sentences are made when they are first read. */
  readonly rejected: ReadonlyMap<string, string>
  /** Values for `gateway_metadata.params`. */
  readonly params: { readonly [name: string]: unknown }
  /** The sort for the first model; undefined: balanced by price, or by session. */
  readonly sort: SortKey | undefined
  readonly estimate: RequestEstimate | undefined
  /** Why there are no attempts: `invalid_request`, `not_found` or `context_length_exceeded`. */
  readonly error?: GatewayError
}

/** More models than any caller needs; how many are left out is said. */
const MAX_MODELS = 64

/**
 * Decides which endpoints a call tries and in which order. Pure: clock, random and health are arguments, nothing is sent or stored. Never throws;
 * `plan.error` says why there are no attempts. Takes some microseconds, and some tens for a model of 1,000 endpoints.
 */
export function planRoute(input: PlanInput): Plan {
  const { request, catalog, defaults } = input
  const names = modelNames(request, defaults)
  const requested = names[0]
  if (requested === undefined) {
    return failed(
      '',
      'direct',
      [],
      undefined,
      new GatewayError('invalid_request', 'No model: set "model" or "models", or configure a default model.', { path: 'model' }),
    )
  }
  const resolved: ResolvedModel[] = []
  const unknown: string[] = []
  for (const name of names) {
    const found = resolveModel(name, catalog)
    if (found === undefined) unknown.push(name)
    else if (!resolved.some((other) => other.model === found.model && other.variant === found.variant)) resolved.push(found)
  }
  const strategy = input.strategy ?? strategyOf(resolved.length > 1 || (resolved.length === 1 && unknown.length > 0), resolved[0])
  const leftOut = names.length < MAX_MODELS ? 0 : new Set([request.model, ...(request.models ?? [])].filter(Boolean)).size - names.length
  if (resolved.length === 0) return failed(requested, strategy, [], undefined, unknownModel(unknown, leftOut, catalog))

  const estimate = input.estimate ?? estimateRequest(request)
  let demand: Demand
  try {
    demand = compileDemand(request, estimate, defaults?.provider, input.now, input.adaptation)
    if (input.admits !== undefined) demand = { ...demand, admits: input.admits }
  } catch (error) {
    return failed(requested, strategy, candidatesOf(resolved), estimate, asGatewayError(error))
  }
  const groups = resolved.map((found): Group => ({
    resolved: found,
    model: found.model,
    columns: columnsOf(found.model),
    tiers: tiersAdmitted(demand, found),
  }))
  const context = contextOf(input, demand, groups)
  let relaxed = false
  let selections = groups.map((group) => {
    const asItIs = select(context, group, SLACK.none)
    return asItIs.ranked.length > 0 ? asItIs : select(context, group, SLACK.adapted)
  })
  if (selections.every(({ ranked }) => ranked.length === 0)) {
    // The estimate alone never refuses a request: if nothing else is left, the upstream decides whether the prompt fits.
    relaxed = true
    selections = groups.map((group) => select(context, group, SLACK.relaxed))
  }
  const order = arrange(selections, demand)
  const rejected = new LazyMap(() => rejections(selections, demand, order))
  const candidates = candidatesOf(resolved)
  const base = { requested, strategy, candidates, rejected, sort: sortFor(demand, groups[0]!), estimate }
  if (order.length === 0)
    return { ...base, attempts: [], params: {}, error: nothingLeft(requested, selections, demand, namedButOff(request.provider ?? {}, catalog)) }
  const attempts = order.map((ranked) => toAttempt(ranked, demand))
  return { ...base, attempts, params: paramsOf(attempts, unknown, leftOut, relaxed) }
}

function contextOf(
  { defaults, session: open, health, random, now, ownKeys, served }: PlanInput,
  demand: Demand,
  groups: readonly Group[],
): RankContext {
  const session = defaults?.sticky === false ? undefined : open
  const pinnedAcross = demand.acrossModels && groups.some(({ model }) => session?.pinned(model.slug) !== undefined)
  return { demand, health: defaults?.cooldown === false ? undefined : health, session, pinnedAcross, random, now, ownKeys, served }
}

/** The models a request asks for, in order; none if neither it nor the defaults name one. */
export function modelNames(request: ModelRequest, defaults: Pick<RoutingDefaults, 'model' | 'imageModel'> | undefined): readonly string[] {
  const names: string[] = []
  const add = (name: unknown): void => {
    if (typeof name === 'string' && name !== '' && !names.includes(name) && names.length < MAX_MODELS) names.push(name)
  }
  add(request.model)
  for (const name of request.models ?? []) add(name)
  if (names.length === 0 && request.modalities?.includes('image') === true) add(defaults?.imageModel)
  if (names.length === 0) add(defaults?.model)
  return names
}

function strategyOf(several: boolean, first: ResolvedModel | undefined): CallTrace['strategy'] {
  if (several) return 'fallback'
  if (first === undefined || first.via === 'slug') return 'direct'
  return first.via
}

function candidatesOf(resolved: readonly ResolvedModel[]): readonly Endpoint[] {
  const first = resolved[0]
  if (first === undefined) return []
  if (resolved.length === 1) return first.model.endpoints
  const all = new Set<Endpoint>()
  for (const { model } of resolved) for (const endpoint of model.endpoints) all.add(endpoint)
  return [...all]
}

function failed(
  requested: string,
  strategy: CallTrace['strategy'],
  candidates: readonly Endpoint[],
  estimate: RequestEstimate | undefined,
  error: GatewayError,
): Plan {
  return { requested, strategy, attempts: [], candidates, rejected: new Map(), params: {}, sort: undefined, estimate, error }
}

/** Models in the caller's order with benched endpoints of all models last; or all endpoints in one sort. */
function arrange(selections: readonly Selection[], demand: Demand): readonly Ranked[] {
  const only = selections.length === 1 ? selections[0] : undefined
  if (only !== undefined) return only.ranked
  if (demand.acrossModels) return selections.flatMap(({ ranked }) => ranked).sort((a, b) => a.rank - b.rank || a.key - b.key || a.price - b.price)
  const front: Ranked[] = []
  const back: Ranked[] = []
  for (const { ranked } of selections) for (const place of ranked) (place.state === 'benched' ? back : front).push(place)
  return [...front, ...back]
}

function toAttempt(ranked: Ranked, demand: Demand): PlannedAttempt {
  const { group, index, state } = ranked
  const endpoint = group.columns.endpoints[index]!
  const adapt = suitsOnlyAdapted(demand, group.columns, index)
  return {
    endpoint,
    model: servedModel(endpoint),
    requested: group.resolved.name,
    isByok: ranked.ownKey,
    online: group.resolved.effects.online === true,
    pinned: ranked.pinned,
    state,
    dropped: droppedParameters(demand, group.columns.supports[index]!),
    adapt,
    notes: notesOf(ranked, demand, adapt),
    share: ranked.share,
    price: ranked.price,
  }
}

function paramsOf(attempts: readonly PlannedAttempt[], unknown: readonly string[], leftOut: number, relaxed: boolean): Plan['params'] {
  const params: Record<string, unknown> = {}
  const first = attempts[0]
  if (first !== undefined && first.dropped.length > 0) params['dropped_parameters'] = first.dropped
  if (first?.pinned === true) params['session_pinned'] = true
  if (unknown.length > 0) params['unknown_models'] = unknown
  if (leftOut > 0) params['models_left_out'] = leftOut
  if (relaxed) params['context_length'] = 'probably too short'
  return params
}

/** A map whose entries are made when it is first read. A class, because nearly every call makes one that nobody reads. */
class LazyMap implements ReadonlyMap<string, string> {
  readonly #build: () => ReadonlyMap<string, string>
  #built: ReadonlyMap<string, string> | undefined

  constructor(build: () => ReadonlyMap<string, string>) {
    this.#build = build
  }
  get #map(): ReadonlyMap<string, string> {
    return (this.#built ??= this.#build())
  }
  get size(): number {
    return this.#map.size
  }
  get(key: string): string | undefined {
    return this.#map.get(key)
  }
  has(key: string): boolean {
    return this.#map.has(key)
  }
  forEach(callback: (value: string, key: string, map: ReadonlyMap<string, string>) => void, self?: unknown): void {
    this.#map.forEach(callback, self)
  }
  entries(): MapIterator<[string, string]> {
    return this.#map.entries()
  }
  keys(): MapIterator<string> {
    return this.#map.keys()
  }
  values(): MapIterator<string> {
    return this.#map.values()
  }
  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#map[Symbol.iterator]()
  }
}

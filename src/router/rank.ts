import type { Percentiles, SortKey } from '../core/request.ts'
import { priceOf, TIER } from './columns.ts'
import { orderPosition } from './filter.ts'
import type { Group } from './filter.ts'
import { RETURN_QUIET_MS, UNKNOWN_HEALTH } from './health.ts'
import type { EndpointHealth, HealthView } from './health.ts'
import { lacksTool } from './hosted-tools.ts'
import { unitHash } from './hash.ts'
import { balancePrice, BENCHED, FLAG, OUTAGE, places, stateCode } from './places.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'
import type { Quantiles } from './sketch.ts'

/** How the caller's own key serves an endpoint: before the gateway's credentials, instead of them, or after them. */
export type OwnKeyUse = 'first' | 'only' | 'last'

/** The session of a call, as the ranking sees it. */
export interface RankSession {
  /** True if the caller named it (`session_id`, `prompt_cache_key`): it then sticks from its first request on. */
  readonly explicit: boolean
  readonly seed: number
  /** Id of the endpoint that the session is pinned to for a model. */
  pinned(model: string): string | undefined
}

export interface RankContext {
  readonly demand: Demand
  readonly health: HealthView | undefined
  readonly session: RankSession | undefined
  /** All models are sorted as one, and the session is pinned for any of them. */
  readonly pinnedAcross: boolean
  readonly random: () => number
  readonly now: number
  readonly ownKeys: ((endpoint: Group['columns']['endpoints'][number]) => OwnKeyUse | undefined) | undefined
  /** Id of the endpoint that served the previous turn of the same answer; it comes first if only the first may serve. */
  readonly served?: string | undefined
}

const FAR = 1e12

/**
 * Orders the usable endpoints of one model and keeps the first places.
 *
 * Most significant first: benched endpoints last; own keys first; `provider.order`; vendors' tools; the service tier asked for; the session's pin;
 * the performance asked for; outages of the last 30 s; then the sort, or the session's rendezvous, or the balance: one endpoint drawn by its weight
 * and the inverse square of its price, the others in the order of their chances.
 */
export function rankGroup(context: RankContext, group: Group, usable: Int32Array, count: number): Ranked[] {
  const rules = rulesFor(context, group, dearest(group.columns.price, usable, count))
  places.reset(count * 2)
  for (let n = 0; n < count; n++) placeEndpoint(rules, usable[n]!)
  if (rules.balanced) places.draw(context.random)
  return places.first(group, rules.hashing)
}

/** What is the same for all endpoints of one model. */
interface Rules {
  readonly context: RankContext
  readonly group: Group
  readonly health: HealthView
  readonly sort: SortKey | undefined
  /** `provider.order` is given and obeyed as it is: no session, no balance. */
  readonly manual: boolean
  readonly pinnedId: string | undefined
  /** Endpoints other than the pinned one come behind it. */
  readonly pins: boolean
  /** The caller named the session: rendezvous hashing orders the endpoints, in the same way in every process. */
  readonly hashing: boolean
  readonly balanced: boolean
  readonly seed: number
  /** Positions in `provider.order`, with one place for all unlisted. */
  readonly positions: number
  /** Speed thresholds are given. */
  readonly paced: boolean
  /** Every endpoint is healthy. */
  readonly quiet: boolean
  /** And no measurement is asked for, so health need not be looked at. */
  readonly blind: boolean
  readonly unknownPrice: number
}

function rulesFor(context: RankContext, group: Group, unknownPrice: number): Rules {
  const { demand } = context
  const health = context.health ?? UNKNOWN_HEALTH
  const sort = sortFor(demand, group)
  const manual = demand.order !== undefined
  const session = manual ? undefined : context.session
  const hashing = session?.explicit === true && sort === undefined
  const quiet = health.quiet === true
  const paced = demand.maxLatencyMs !== undefined || demand.minThroughput !== undefined
  const pinnedId = session?.pinned(group.model.slug)
  return {
    context,
    group,
    health,
    sort,
    manual,
    pinnedId,
    pins: pinnedId !== undefined || (context.pinnedAcross && !manual),
    hashing,
    balanced: !manual && sort === undefined && !hashing,
    seed: hashing ? session.seed : 0,
    positions: demand.orderLength + 1,
    paced,
    quiet,
    blind: quiet && !paced && (sort === undefined || sort === 'price'),
    unknownPrice,
  }
}

function placeEndpoint(rules: Rules, i: number): void {
  const { context, group, sort } = rules
  const { columns } = group
  const known = rules.blind ? undefined : rules.health.get(columns.ids[i]!)
  const state = known === undefined || rules.quiet ? 0 : stateCode(known.state)
  const price = priceOf(columns, i, context.demand.inputTokens, context.now)
  const cost = Number.isNaN(price) ? rules.unknownPrice : price
  const pinned = rules.pinnedId !== undefined && rules.pinnedId === columns.ids[i]
  const slow = rules.paced && known !== undefined && tooSlow(context.demand, known)
  const flags = (pinned ? FLAG.pinned : 0) | (slow ? FLAG.slow : 0)
  const balance = balancePrice(cost, columns.pull[i]!)
  if (sort !== undefined) places.weigh(sortKey(sort, known, cost), cost, balance)
  else if (rules.hashing) places.weigh(unitHash(rules.seed, columns.hash[i]!), cost, balance)
  // Without a balance the order decides.
  else places.weigh(rules.manual ? cost : balance, cost, balance)

  const use = context.ownKeys === undefined ? undefined : context.ownKeys(columns.endpoints[i]!)
  // An endpoint the caller has a key for gets two places: with that key, and with the gateway's credentials, if there are any.
  if (use !== undefined) {
    const ownState = rules.quiet ? 0 : ownStateOf(known)
    places.add(rankOf(rules, i, known, ownState, flags, use === 'last' ? 2 : 0), i, flags | FLAG.ownKey, ownState)
  }
  if (use === undefined || (use !== 'only' && columns.endpoints[i]!.connection.credentials.length > 0))
    places.add(rankOf(rules, i, known, state, flags, 1), i, flags, state)
}

const ownStateOf = (known: EndpointHealth | undefined): number => (known === undefined ? 0 : stateCode(known.ownKeyState ?? known.state))

/** The whole rank. `turn`: the digit for own keys and the gateway's credentials. */
function rankOf(rules: Rules, i: number, known: EndpointHealth | undefined, state: number, flags: number, turn: number): number {
  return ((state === BENCHED ? 3 : 0) + turn) * rules.positions * 32 + rankWithin(rules, i, known, state, flags)
}

/** The digits of the rank below bench and own key, most significant first: order, tools, tier, pin, speed, outage. */
function rankWithin(rules: Rules, i: number, known: EndpointHealth | undefined, state: number, flags: number): number {
  const { context, group, manual, pins } = rules
  const { demand } = context
  const position = manual ? Math.min(orderPosition(demand, group, i), rules.positions - 1) : 0
  const lacking = demand.hosted.length > 0 && lacksTool(demand.hosted, group.columns.endpoints[i]!) ? 1 : 0
  const offTier = demand.tier === 'priority' && group.columns.tier[i] !== TIER.priority ? 1 : 0
  const unpinned = !pins || (flags & FLAG.pinned) !== 0 ? 0 : 1
  const slow = (flags & FLAG.slow) !== 0 ? 1 : 0
  // An explicit order or sort is obeyed as it is; the balance prefers endpoints that did not just fail.
  const obeyed = manual || rules.sort !== undefined
  const shaky = !obeyed && (state === OUTAGE || (rules.hashing && freshlyBack(known, context.now))) ? 1 : 0
  return ((((position * 2 + lacking) * 2 + offTier) * 2 + unpinned) * 2 + slow) * 2 + shaky
}

function freshlyBack(known: EndpointHealth | undefined, now: number): boolean {
  return known !== undefined && known.lastOutageAt > 0 && now - known.lastOutageAt < RETURN_QUIET_MS
}

/** The sort that counts: the caller's, the variant's, the tier's own, the workspace's. Undefined: balance. */
export function sortFor(demand: Demand, group: Group): SortKey | undefined {
  if (demand.sort !== undefined) return demand.sort
  if (group.resolved.effects.sort !== undefined) return group.resolved.effects.sort
  if (demand.tier === 'priority' && hasTier(group, TIER.priority)) return 'throughput'
  if (demand.tier === 'flex' && hasTier(group, TIER.flex)) return 'price'
  return demand.defaultSort
}

function hasTier(group: Group, tier: number): boolean {
  return group.columns.tier.includes(tier)
}

/** An endpoint of unknown price counts as the dearest of its model. */
function dearest(price: Float64Array, usable: Int32Array, count: number): number {
  let most = 0
  for (let n = 0; n < count; n++) {
    const value = price[usable[n]!]!
    if (value > most) most = value
  }
  return most === 0 ? 1 : most
}

/** Lower is better; unmeasured endpoints come after measured ones. */
function sortKey(sort: SortKey, record: EndpointHealth | undefined, cost: number): number {
  switch (sort) {
    case 'price':
      return cost
    case 'throughput':
      return -(record?.throughput?.p50 ?? 0)
    case 'latency':
      return record?.latency?.p50 ?? FAR
    case 'exacto':
      return exactoKey(record)
  }
}

/** Proven endpoints by quality, then little-known ones, then proven poor ones. */
const POOR_QUALITY = 0.9
function exactoKey(record: EndpointHealth | undefined): number {
  const quality = record?.quality
  if (quality === undefined) return 1
  return quality < POOR_QUALITY ? 3 - quality : 1 - quality - 1e-9
}

function tooSlow(demand: Demand, record: EndpointHealth): boolean {
  return exceeds(record.latency, demand.maxLatencyMs, 1) || exceeds(record.throughput, demand.minThroughput, -1)
}

/** All cutoffs must hold. An endpoint without measurements does not count as slow. */
function exceeds(measured: Quantiles | undefined, cutoffs: Percentiles | undefined, sign: 1 | -1): boolean {
  if (measured === undefined || cutoffs === undefined) return false
  return (
    (cutoffs.p50 != null && (measured.p50 - cutoffs.p50) * sign > 0) ||
    (cutoffs.p75 != null && (measured.p75 - cutoffs.p75) * sign > 0) ||
    (cutoffs.p90 != null && (measured.p90 - cutoffs.p90) * sign > 0) ||
    (cutoffs.p99 != null && (measured.p99 - cutoffs.p99) * sign > 0)
  )
}

import type { Percentiles, SortKey } from '../core/request.ts'
import { TIER } from './columns.ts'
import { orderPosition } from './filter.ts'
import type { Group } from './filter.ts'
import { RETURN_QUIET_MS, UNKNOWN_HEALTH } from './health.ts'
import type { EndpointHealth, EndpointState, HealthView } from './health.ts'
import { unitHash } from './hash.ts'
import type { Demand } from './prefer.ts'
import type { Quantiles } from './sketch.ts'

/** How the caller's own key serves an endpoint: before the gateway's credentials, instead of them, or after them. */
export type OwnKeyUse = 'first' | 'only' | 'last'

/** The session a call belongs to, as the ranking sees it. */
export interface RankSession {
  /** True when the caller named it (`session_id`, `prompt_cache_key`): it then sticks from its first request on. */
  readonly explicit: boolean
  readonly seed: number
  /** Id of the endpoint the session is pinned to for a model. */
  readonly pinned: (model: string) => string | undefined
}

/** One place in the order: an endpoint, with the gateway's credentials or the caller's own. */
export interface Ranked {
  readonly group: Group
  readonly index: number
  readonly ownKey: boolean
  readonly pinned: boolean
  readonly state: EndpointState
  readonly slow: boolean
  readonly rank: number
  readonly key: number
  readonly price: number
}

export interface RankContext {
  readonly demand: Demand
  readonly health: HealthView | undefined
  readonly session: RankSession | undefined
  readonly random: () => number
  readonly now: number
  readonly ownKeys: ((endpoint: Group['columns']['endpoints'][number]) => OwnKeyUse | undefined) | undefined
}

/** Places kept per model: more than a call may ever try (6 on one provider) and few enough to make long lists cheap. */
export const PLACES_PER_MODEL = 16

/** Prices below this weigh alike: a free endpoint must not divide by zero. USD per million. */
const LEAST_PRICE = 0.01
const FAR = 1e12

// Scratch reused between plans: ranking is synchronous and calls nothing that plans.
let ranks = new Float64Array(64)
let keys = new Float64Array(64)
let prices = new Float64Array(64)
let places = new Int32Array(64)
let flags = new Uint8Array(64)
const FLAG = { ownKey: 1, pinned: 2, slow: 4 } as const
const STATES: readonly EndpointState[] = ['healthy', 'outage', 'benched', 'probe']
let states = new Uint8Array(64)

function reserve(size: number): void {
  if (size <= ranks.length) return
  const capacity = size * 2
  ranks = new Float64Array(capacity)
  keys = new Float64Array(capacity)
  prices = new Float64Array(capacity)
  places = new Int32Array(capacity)
  flags = new Uint8Array(capacity)
  states = new Uint8Array(capacity)
}

/**
 * Puts the usable endpoints of one model in order and keeps the first places.
 *
 * Most significant first: benched endpoints last; own keys first; `provider.order`; the service tier asked for; the session's pin;
 * the performance asked for; outages of the last 30 s; then the sort, or the session's rendezvous, or the balance: one endpoint drawn
 * by the inverse square of its price, the others from cheap to dear.
 */
export function rankGroup(context: RankContext, group: Group, usable: Int32Array, count: number): Ranked[] {
  const { demand, session, now, ownKeys } = context
  const { columns } = group
  const health = context.health ?? UNKNOWN_HEALTH
  const sort = sortFor(demand, group)
  const manual = demand.order !== undefined
  const sticky = manual ? undefined : session
  const pinnedId = sticky?.pinned(group.model.slug)
  const hashing = sticky?.explicit === true && sort === undefined
  const orders = demand.orderLength + 1
  const span = orders * 16
  const seed = session?.seed ?? 0
  reserve(count * 2)
  const paced = demand.maxLatencyMs !== undefined || demand.minThroughput !== undefined
  // Without trouble anywhere only sorts and thresholds by measured speed need to look.
  const blind = health.quiet === true && !paced && (sort === undefined || sort === 'price')
  const unknownPrice = dearest(columns.price, usable, count)

  let size = 0
  for (let n = 0; n < count; n++) {
    const i = usable[n]!
    const endpoint = columns.endpoints[i]!
    const record = blind ? undefined : health.get(endpoint.id)
    const price = columns.price[i]!
    const cost = Number.isNaN(price) ? unknownPrice : price
    const state = record === undefined ? 0 : STATES.indexOf(record.state)
    const benched = state === 2 ? 1 : 0
    const position = manual ? Math.min(orderPosition(demand, group, i), orders - 1) : 0
    const offTier = demand.tier === 'priority' && columns.tier[i] !== TIER.priority ? 1 : 0
    const pinned = pinnedId === endpoint.id
    const slow = paced && record !== undefined && tooSlow(demand, record)
    // An explicit order or sort is obeyed as it is; the balance prefers endpoints that did not just fail.
    const shaky = !manual && sort === undefined && (state === 1 || (hashing && record !== undefined && record.lastOutageAt > 0 && now - record.lastOutageAt < RETURN_QUIET_MS)) ? 1 : 0
    const rank = (((position * 2 + offTier) * 2 + (pinned || pinnedId === undefined ? 0 : 1)) * 2 + (slow ? 1 : 0)) * 2 + shaky
    if (sort !== undefined) keys[size] = sortKey(sort, record, cost)
    else if (hashing) keys[size] = -Math.log(unitHash(seed, columns.hash[i]!)) * weightless(cost)
    else keys[size] = cost
    prices[size] = cost
    const flag = (pinned ? FLAG.pinned : 0) | (slow ? FLAG.slow : 0)
    const use = ownKeys === undefined ? undefined : ownKeys(endpoint)
    if (use === undefined) size = place(size, rank + (benched * 3 + 1) * span, i, flag, state)
    else size = placeOwnKey(size, use, endpoint.connection.credentials.length > 0, rank, benched, span, i, flag, state)
  }
  if (!manual && sort === undefined && !hashing) drawByPrice(size, context.random)
  return firstPlaces(size, group)
}

/** Notes a place; its key and price stand at `size` already. Whole numbers only: no boxed doubles per endpoint. */
function place(size: number, rank: number, index: number, flag: number, state: number): number {
  ranks[size] = rank
  places[size] = index
  flags[size] = flag
  states[size] = state
  return size + 1
}

/** An endpoint the caller has a key for takes two places: one with that key, one with the gateway's credentials, if there are any. */
function placeOwnKey(size: number, use: OwnKeyUse, shared: boolean, rank: number, benched: number, span: number, index: number, flag: number, state: number): number {
  const own = use === 'last' ? 2 : 0
  let end = place(size, rank + (benched * 3 + own) * span, index, flag | FLAG.ownKey, state)
  if (use !== 'only' && shared) {
    keys[end] = keys[size]!
    prices[end] = prices[size]!
    end = place(end, rank + (benched * 3 + 1) * span, index, flag, state)
  }
  return end
}

/** The sort in force: the caller's, the variant's, the tier's own, the workspace's. Undefined: balance. */
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

function weightless(price: number): number {
  const least = price < LEAST_PRICE ? LEAST_PRICE : price
  return least * least
}

/** The weight of an endpoint in the balance. */
export const balanceWeight = (price: number): number => 1 / weightless(price)

/** An endpoint of unknown price counts as the dearest of its model. */
function dearest(price: Float64Array, usable: Int32Array, count: number): number {
  let most = 0
  for (let n = 0; n < count; n++) {
    const value = price[usable[n]!]!
    if (value > most) most = value
  }
  return most === 0 ? 1 : most
}

/** Lower is better; what was never measured comes after what was. */
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

/** Proven endpoints by their quality, then the little known, then the proven poor. */
const POOR_QUALITY = 0.9
function exactoKey(record: EndpointHealth | undefined): number {
  const quality = record?.quality
  if (quality === undefined) return 1
  return quality < POOR_QUALITY ? 3 - quality : 1 - quality - 1e-9
}

function tooSlow(demand: Demand, record: EndpointHealth): boolean {
  return exceeds(record.latency, demand.maxLatencyMs, 1) || exceeds(record.throughput, demand.minThroughput, -1)
}

/** All cutoffs must hold. An endpoint without measurements is not called slow. */
function exceeds(measured: Quantiles | undefined, cutoffs: Percentiles | undefined, sign: 1 | -1): boolean {
  if (measured === undefined || cutoffs === undefined) return false
  return (
    (cutoffs.p50 != null && (measured.p50 - cutoffs.p50) * sign > 0) ||
    (cutoffs.p75 != null && (measured.p75 - cutoffs.p75) * sign > 0) ||
    (cutoffs.p90 != null && (measured.p90 - cutoffs.p90) * sign > 0) ||
    (cutoffs.p99 != null && (measured.p99 - cutoffs.p99) * sign > 0)
  )
}

/** Draws one of the places of the best rank by the inverse square of its price and puts it first. */
function drawByPrice(size: number, random: () => number): void {
  let best = Infinity
  for (let n = 0; n < size; n++) if (ranks[n]! < best) best = ranks[n]!
  let total = 0
  let candidates = 0
  for (let n = 0; n < size; n++) {
    if (ranks[n] !== best) continue
    total += balanceWeight(prices[n]!)
    candidates++
  }
  if (candidates < 2) return
  let left = random() * total
  let drawn = -1
  for (let n = 0; n < size; n++) {
    if (ranks[n] !== best) continue
    drawn = n
    left -= balanceWeight(prices[n]!)
    if (left < 0) break
  }
  if (drawn >= 0) keys[drawn] = -1
}

const chosen = new Int32Array(PLACES_PER_MODEL)

/** Insertion into a short sorted list: linear in the endpoints, no sort of all of them. */
function firstPlaces(size: number, group: Group): Ranked[] {
  let kept = 0
  for (let n = 0; n < size; n++) {
    if (kept === PLACES_PER_MODEL && !before(n, chosen[kept - 1]!)) continue
    let at = kept < PLACES_PER_MODEL ? kept++ : kept - 1
    while (at > 0 && before(n, chosen[at - 1]!)) {
      chosen[at] = chosen[at - 1]!
      at--
    }
    chosen[at] = n
  }
  const result: Ranked[] = []
  for (let at = 0; at < kept; at++) {
    const n = chosen[at]!
    const flag = flags[n]!
    result.push({
      group,
      index: places[n]!,
      ownKey: (flag & FLAG.ownKey) !== 0,
      pinned: (flag & FLAG.pinned) !== 0,
      slow: (flag & FLAG.slow) !== 0,
      state: STATES[states[n]!]!,
      rank: ranks[n]!,
      key: keys[n]!,
      price: prices[n]!,
    })
  }
  return result
}

function before(a: number, b: number): boolean {
  if (ranks[a] !== ranks[b]) return ranks[a]! < ranks[b]!
  if (keys[a] !== keys[b]) return keys[a]! < keys[b]!
  if (prices[a] !== prices[b]) return prices[a]! < prices[b]!
  return a < b
}

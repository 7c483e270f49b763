import { TIER } from './columns.ts'
import { missingSoft, rejectEndpoint, REJECTION } from './filter.ts'
import type { Group, Rejection, Slack } from './filter.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'
import { rankGroup } from './rank.ts'
import type { RankContext } from './rank.ts'

/** One model's endpoints, filtered and ranked. */
export interface Selection {
  readonly group: Group
  readonly ranked: readonly Ranked[]
  /** What the second pass settled: the soft parameters every usable endpoint of the model lacks, and whether only flex serves. */
  readonly missing: number
  readonly flexOnly: boolean
  /** Only the first endpoint may be tried. */
  readonly topOnly: boolean
  /** What was let through. */
  readonly slack: Slack
}

let usable = new Int32Array(64)

/** Filters one model's endpoints, settles what depends on their neighbours, and ranks what is left. */
export function select(context: RankContext, group: Group, slack: Slack): Selection {
  const { demand } = context
  const { columns } = group
  const size = columns.endpoints.length
  if (usable.length < size) usable = new Int32Array(size * 2)
  let count = 0
  let missing = Infinity
  for (let i = 0; i < size; i++) {
    if (rejectEndpoint(demand, group, i, slack) !== REJECTION.none) continue
    usable[count++] = i
    if (demand.soft.length > 0) missing = Math.min(missing, missingSoft(demand, columns.supports[i]!))
  }
  if (count > 0 && demand.soft.length > 0) {
    let kept = 0
    for (let n = 0; n < count; n++) if (missingSoft(demand, columns.supports[usable[n]!]!) === missing) usable[kept++] = usable[n]!
    count = kept
  }
  // Flex was asked for its price: a standard endpoint would cost more than the caller agreed to.
  let flexOnly = false
  if (demand.tier === 'flex') {
    for (let n = 0; n < count && !flexOnly; n++) flexOnly = columns.tier[usable[n]!] === TIER.flex
    if (flexOnly) {
      let kept = 0
      for (let n = 0; n < count; n++) if (columns.tier[usable[n]!] === TIER.flex) usable[kept++] = usable[n]!
      count = kept
    }
  }
  const ranked = rankGroup(context, group, usable, count)
  const topOnly = !demand.allowFallbacks && demand.order === undefined
  const tried = topOnly && ranked.length > 1 ? [theOne(ranked, context)] : ranked
  return { group, ranked: tried, missing: count > 0 ? missing : Infinity, flexOnly, topOnly, slack }
}

/** The only one that may be tried: the one that served the turn before of the same answer, else the first. */
function theOne(ranked: readonly Ranked[], { served }: RankContext): Ranked {
  const known = served === undefined ? undefined : ranked.find(({ group, index }) => group.columns.endpoints[index]!.id === served)
  return known ?? ranked[0]!
}

/** Why an endpoint is not among the ranked; `none` for one that only came too late for a place. */
export function rejectionOf(selection: Selection, demand: Demand, i: number): Rejection {
  const { group } = selection
  const code = rejectEndpoint(demand, group, i, selection.slack)
  if (code !== REJECTION.none) return code
  if (demand.soft.length > 0 && missingSoft(demand, group.columns.supports[i]!) !== selection.missing) return REJECTION.softParameters
  if (selection.flexOnly && group.columns.tier[i] !== TIER.flex) return REJECTION.flexOnly
  return selection.topOnly ? REJECTION.fallbacksOff : REJECTION.none
}

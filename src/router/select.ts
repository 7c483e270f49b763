import { TIER } from './columns.ts'
import { missingSoft, rejectEndpoint, REJECTION } from './filter.ts'
import type { Group, Rejection, Slack } from './filter.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'
import { rankGroup } from './rank.ts'
import type { RankContext } from './rank.ts'

/** The endpoints of one model, filtered and ranked. */
export interface Selection {
  readonly group: Group
  readonly ranked: readonly Ranked[]
  /** What the second pass found: the soft parameters that every usable endpoint of the model lacks, and whether only flex serves. */
  readonly missing: number
  readonly flexOnly: boolean
  /** Only the first endpoint may be tried. */
  readonly topOnly: boolean
  /** How strictly they were filtered. */
  readonly slack: Slack
}

let usable = new Int32Array(64)

/** Filters the endpoints of one model, settles what depends on several of them, and ranks what is left. */
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
  // Flex was requested for its price: a standard endpoint would cost more than the caller agreed to.
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
  const tried = topOnly && ranked.length > 1 ? [onlyCandidate(ranked, context)] : ranked
  return { group, ranked: tried, missing: count > 0 ? missing : Infinity, flexOnly, topOnly, slack }
}

/** The only endpoint that may be tried: the one that served the previous turn of the same answer, or else the first. */
function onlyCandidate(ranked: readonly Ranked[], { served }: RankContext): Ranked {
  const known = served === undefined ? undefined : ranked.find(({ group, index }) => group.columns.endpoints[index]!.id === served)
  return known ?? ranked[0]!
}

/** Why an endpoint is not among the ranked; `none` for one that only ranked too low for a place. */
export function rejectionOf(selection: Selection, demand: Demand, i: number): Rejection {
  const { group } = selection
  const code = rejectEndpoint(demand, group, i, selection.slack)
  if (code !== REJECTION.none) return code
  if (demand.soft.length > 0 && missingSoft(demand, group.columns.supports[i]!) !== selection.missing) return REJECTION.softParameters
  if (selection.flexOnly && group.columns.tier[i] !== TIER.flex) return REJECTION.flexOnly
  return selection.topOnly ? REJECTION.fallbacksOff : REJECTION.none
}

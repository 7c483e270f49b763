import type { AttemptRecord, CallTrace } from '../core/call.ts'
import { byOwnKey, NO_COST } from '../core/cost.ts'
import type { Cost } from '../core/generation.ts'
import type { Pricing } from '../core/pricing.ts'
import type { Usage } from '../core/usage.ts'
import { timesPrice } from './tier-price.ts'

export type CostOf = (usage: Usage, pricing: Pricing) => Cost

type Paid = Pick<AttemptRecord, 'endpoint' | 'isByok' | 'counted' | 'tierFactor'>

/** What a usage costs at the endpoint of an attempt, and who pays it. */
export function attemptCost(costOf: CostOf, usage: Usage, attempt: Paid): Cost {
  const { endpoint, isByok, counted, tierFactor = 1 } = attempt
  // The usage at the end of an answer has the price of its tier already.
  const hasEnded = usage.estimated !== true && usage !== counted
  const priced = costOf(hasEnded ? usage : timesPrice(usage, tierFactor), endpoint.pricing)
  // An answer that broke off costs at least what its upstream had charged by then. More may have been written since.
  const charged = hasEnded ? undefined : counted?.reportedCost
  const cost = charged !== undefined && charged > priced.total ? costOf({ ...usage, reportedCost: charged }, endpoint.pricing) : priced
  return isByok === true ? byOwnKey(cost) : cost
}

/** The trace of the call that limits and budgets belong to. */
export function rootOf(trace: CallTrace): CallTrace {
  let root = trace
  while (root.parent !== undefined) root = root.parent
  return root
}

/** Adds what a tool costs besides the models it asked. */
export function payTool(trace: CallTrace, usd: number): void {
  if (usd === 0) return
  const root = rootOf(trace)
  root.toolPrices = (root.toolPrices ?? 0) + usd
}

/** What the tools of a call have cost so far besides the models they asked, USD. */
export const toolPrices = (trace: CallTrace): number => rootOf(trace).toolPrices ?? 0

/** The cost of the upstream answer that has just ended: at the prices of the endpoint that served it, or of all that had a part in it. */
export function answerCost(costOf: CostOf, usage: Usage, { answerCost: known, served }: CallTrace): Cost {
  if (known !== undefined) return known
  return served === undefined ? NO_COST : attemptCost(costOf, usage, served)
}

import type { AttemptRecord, CallTrace } from '../core/call.ts'
import { byOwnKey, NO_COST } from '../core/cost.ts'
import type { Cost } from '../core/generation.ts'
import type { Pricing } from '../core/pricing.ts'
import type { Usage } from '../core/usage.ts'

export type CostOf = (usage: Usage, pricing: Pricing) => Cost

/** What a usage costs at the endpoint of an attempt, and whose money that is. */
export function attemptCost(costOf: CostOf, usage: Usage, { endpoint, isByok }: Pick<AttemptRecord, 'endpoint' | 'isByok'>): Cost {
  const cost = costOf(usage, endpoint.pricing)
  return isByok === true ? byOwnKey(cost) : cost
}

/** What the upstream answer that has just ended cost: at the prices of the endpoint that served it, or of all that had a part in it. */
export function answerCost(costOf: CostOf, usage: Usage, { answerCost: known, served }: CallTrace): Cost {
  if (known !== undefined) return known
  return served === undefined ? NO_COST : attemptCost(costOf, usage, served)
}

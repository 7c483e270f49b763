import type { GenerationDetail, GenerationSummary } from '../../api/schema.ts'
import { usd } from '../../lib/format.ts'

/** The total cost, whoever pays. An unknown price is not zero. */
export function costOf({ total_cost: own, upstream_inference_cost: callers, cost_source: source }: GenerationSummary): string {
  const known = own + (callers ?? 0)
  if (source !== 'unknown') return usd(known)
  return known === 0 ? 'not known' : `${usd(known)} or more`
}

/** For a call whose total price is unknown. */
export const partlyKnown = ({ total }: Pick<GenerationDetail['cost'], 'total'>): string =>
  total === 0 ? 'unknown: no price for this model' : `at least ${usd(total)}: part of it has no price`

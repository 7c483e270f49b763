import type { GenerationDetail, GenerationSummary } from '../../api/schema.ts'
import { usd } from '../../lib/format.ts'

/** All that it cost, whoever pays. A price nobody knows is not nothing. */
export function costOf({ total_cost: own, upstream_inference_cost: callers, cost_source: source }: GenerationSummary): string {
  const known = own + (callers ?? 0)
  if (source !== 'unknown') return usd(known)
  return known === 0 ? 'not known' : `${usd(known)} or more`
}

/** Of a call that nobody knows the whole price of. */
export const partlyKnown = ({ total }: Pick<GenerationDetail['cost'], 'total'>): string =>
  total === 0 ? 'not known: there is no price for this model' : `${usd(total)} or more: there is no price for a part of it`

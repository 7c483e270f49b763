import { lackedTools } from './hosted-tools.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'

const NO_NOTES: readonly string[] = []

/** Explains the attempt's position in the plan. */
export function notesOf({ group, index, state, ownKey, pinned, slow }: Ranked, demand: Demand, adapt: boolean): readonly string[] {
  let notes: string[] | undefined
  if (ownKey) (notes ??= []).push('served with your own key')
  for (const type of lackedTools(demand.hosted, group.columns.endpoints[index]!)) (notes ??= []).push(`does not know the tool ${type}`)
  if (pinned) (notes ??= []).push('the session is pinned here')
  if (slow) (notes ??= []).push('slower than preferred')
  if (state === 'outage') (notes ??= []).push('failed in the last 30 seconds')
  if (state === 'benched') (notes ??= []).push('cooling down')
  if (state === 'probe') (notes ??= []).push('probes whether it has recovered')
  if (adapt) (notes ??= []).push('gets the request as plugins adapt it')
  return notes ?? NO_NOTES
}

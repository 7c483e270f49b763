import type { AttemptRecord } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import { tierServed } from '../core/service-tier.ts'
import type { Usage } from '../core/usage.ts'
import { tierFactorAt } from '../router/price-multiple.ts'

type TierRecord = Pick<AttemptRecord, 'endpoint' | 'dropped' | 'tierFactor'>

/**
 * The tokens of an answer are charged at the price of the tier that served it, which may be another than the caller asked for: the same tier that its
 * record names. Its multiple is noted for tokens that nobody counted.
 */
export function atTierPrice(events: readonly ModelEvent[], request: Pick<ModelRequest, 'service_tier'>, record: TierRecord): readonly ModelEvent[] {
  const first = events[0]
  const last = events[events.length - 1]
  // It may break off, and then its beginning has said more than its request.
  if (first?.type === 'response-start') noteTier(first.serviceTier, request, record)
  if (last?.type !== 'response-end') return events
  noteTier(last.serviceTier, request, record)
  const { tierFactor: factor = 1 } = record
  return last.usage === undefined || factor === 1 ? events : [...events.slice(0, -1), { ...last, usage: timesPrice(last.usage, factor) }]
}

function noteTier(named: string | undefined, request: Pick<ModelRequest, 'service_tier'>, record: TierRecord): void {
  const { endpoint, dropped } = record
  record.tierFactor = tierFactorAt(endpoint, tierServed(named, endpoint.tier, request, dropped))
}

/** The usage at a multiple of its price. */
export const timesPrice = (usage: Usage, factor: number): Usage =>
  factor === 1 ? usage : { ...usage, priceFactor: (usage.priceFactor ?? 1) * factor }

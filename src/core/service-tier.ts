import type { ModelRequest } from './request.ts'

/** The tiers that an endpoint may stand for. */
export type EndpointTier = 'default' | 'flex' | 'priority'

/** Tier names that an answer may have. `auto` is not one: it leaves the choice to the vendor. */
const NAMED: ReadonlySet<string> = new Set(['default', 'flex', 'priority', 'scale'])

/** The tier that a request asks for. `fast` is the contract's synonym of `priority` in requests; answers do not use it. */
export function tierAsked({
  service_tier: tier,
}: Pick<ModelRequest, 'service_tier'>): 'auto' | 'default' | 'flex' | 'priority' | 'scale' | undefined {
  return tier === 'fast' ? 'priority' : (tier ?? undefined)
}

/**
 * The tier that serves an answer, for answers and records: the upstream's value if the contract knows it; or else the endpoint's own tier; or else
 * the requested tier, unless it was not sent to the upstream (`dropped`: what was not sent).
 */
export function tierServed(
  reported: string | undefined,
  own: EndpointTier | undefined,
  request: Pick<ModelRequest, 'service_tier'>,
  dropped: readonly string[] = [],
): string {
  const words = [reported, own, dropped.includes('service_tier') ? undefined : tierAsked(request)]
  return words.find((word) => word !== undefined && NAMED.has(word)) ?? 'default'
}

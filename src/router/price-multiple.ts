import type { Endpoint } from '../core/endpoint.ts'
import type { ModelRequest } from '../core/request.ts'
import { tierAsked } from '../core/service-tier.ts'

type TierEndpoint = Pick<Endpoint, 'connection' | 'upstreamModel' | 'tier'>

/** The multiple of an endpoint's price that its vendor charges in this service tier. An endpoint that stands for a tier has the tier's price. */
export function tierFactorAt({ connection, upstreamModel, tier: own }: TierEndpoint, tier: string | undefined): number {
  if (tier === undefined || own === 'flex' || own === 'priority') return 1
  return connection.dialect.tierFactor?.(tier, { options: connection.options, upstreamModel }) ?? 1
}

/**
 * The multiple of its list price that an endpoint may charge for a request: for the service tier, the speed and the region that it asks for. A vendor
 * may serve a call at the list price after all, so a tier makes it no less.
 */
export function priceMultiple(request: ModelRequest, endpoint: TierEndpoint): number {
  const { connection, upstreamModel } = endpoint
  const asked = connection.dialect.priceFactor?.(request, { options: connection.options, upstreamModel }) ?? 1
  return asked * Math.max(1, tierFactorAt(endpoint, tierAsked(request)))
}

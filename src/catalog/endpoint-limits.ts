import type { EndpointLimit, RateLimits } from '../core/endpoint.ts'

/** What the operator lets be sent to an endpoint: its own limits, and those its provider has for all of them. Undefined: there are none. */
export function endpointLimits(
  endpointId: string,
  own: RateLimits | undefined,
  provider: string,
  shared: RateLimits | undefined,
): readonly EndpointLimit[] | undefined {
  const limits = [...limitFor(`endpoint:${endpointId}`, own), ...limitFor(`provider:${provider}`, shared)]
  return limits.length === 0 ? undefined : limits
}

const limitFor = (subject: string, limits: RateLimits = {}): readonly EndpointLimit[] =>
  Object.keys(limits).length === 0 ? [] : [{ subject, ...limits }]

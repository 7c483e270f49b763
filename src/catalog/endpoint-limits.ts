import type { EndpointLimit, RateLimits } from '../core/endpoint.ts'

/** The operator's rate limits for an endpoint: its own, and those that all endpoints of its provider share. Undefined if there are none. */
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

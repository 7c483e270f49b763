import type { Call } from '../core/call.ts'
import type { Charge, Counter, Rate, Verdict } from '../core/counter.ts'
import type { Endpoint, EndpointLimit } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { Health } from '../router/health.ts'
import type { PlannedAttempt } from '../router/plan.ts'
import { batchesOf } from './batches.ts'
import { estimateRequest, type RequestEstimate } from '../router/estimate.ts'
import { outputAt, type CallPriceOptions } from './call-price.ts'

/** What an attempt really used; undefined: as much as expected. */
export interface ShareUsed {
  readonly tokens?: number | undefined
  readonly requests?: number | undefined
}

/** What an attempt has taken of its endpoint's limits. */
export interface EndpointShare {
  /** The attempt is over: gives its place back. */
  settle(used: ShareUsed): void
}

/** The estimate of the request, and where to report an endpoint that is full. */
export interface ShareRequest {
  readonly estimate: RequestEstimate | undefined
  readonly health: Pick<Health, 'pause'>
}

/**
 * Takes what an attempt needs of the limits that the operator set for the endpoint. Undefined at once if there are none, and for callers' own keys,
 * which belong to other accounts. Rejects with GatewayError `rate_limit_exceeded` (source `gateway`): another endpoint may serve.
 */
export type TakeShare = (
  call: Call,
  attempt: Pick<PlannedAttempt, 'endpoint' | 'isByok'>,
  request: ShareRequest,
) => Promise<EndpointShare | undefined> | undefined

export interface EndpointLimitOptions extends Pick<CallPriceOptions, 'policy'> {
  readonly counter: Counter
  /** Called whenever a provider is skipped, with the limit that is used up. */
  readonly onFull?: (provider: string, limit: string) => void
}

type Full = Extract<Verdict, { readonly ok: false }>

/** Counts requests, tokens and concurrent calls of endpoints and providers in the same way as those of keys: in this process, or among all. */
export function createEndpointLimits({ counter, policy, onFull }: EndpointLimitOptions): TakeShare {
  let shares = 0
  const take = async (call: Call, endpoint: Endpoint, limits: readonly EndpointLimit[], request: ShareRequest): Promise<EndpointShare> => {
    // Each attempt of a call has its own, and several may be under way.
    const id = `${call.id}.${++shares}`
    const { inputTokens } = request.estimate ?? estimateRequest(call.request)
    const expected = { tokens: inputTokens + outputAt({ policy }, call, endpoint), requests: batchesOf(call.request, endpoint)?.length ?? 1 }
    const verdict = await counter.reserve({ id, now: call.clock.now(), charges: limits.map((limit) => chargeOf(limit, expected)) })
    if (!verdict.ok) {
      onFull?.(endpoint.provider, limitOf(verdict))
      throw full(call, endpoint, verdict, request.health)
    }
    return {
      settle({ tokens = expected.tokens, requests = expected.requests }) {
        const beyond = { tokens: tokens - expected.tokens, requests: requests - expected.requests }
        const payments = limits.map((limit) => ({
          subject: limit.subject,
          spentUsd: 0,
          rates: ratesOf(limit, beyond).filter(({ cost }) => cost !== 0),
        }))
        void counter.settle({ id, now: call.clock.now(), payments })
      },
    }
  }
  return (call, { endpoint, isByok }, request) =>
    endpoint.limits === undefined || isByok ? undefined : take(call, endpoint, endpoint.limits, request)
}

function chargeOf(limit: EndpointLimit, amounts: Amounts): Charge {
  const { subject, concurrentRequests } = limit
  return {
    subject,
    revision: 0,
    rates: ratesOf(limit, amounts),
    budgets: [],
    ...(concurrentRequests === undefined ? {} : { maxOpen: concurrentRequests }),
  }
}

type Amounts = Required<{ readonly [Name in keyof ShareUsed]: number }>

function ratesOf({ requestsPerMinute, tokensPerMinute }: EndpointLimit, { requests, tokens }: Amounts): readonly Rate[] {
  const rates: Rate[] = []
  if (requestsPerMinute !== undefined) rates.push({ name: 'requests', limit: requestsPerMinute, cost: requests })
  if (tokensPerMinute !== undefined) rates.push({ name: 'tokens', limit: tokensPerMinute, cost: tokens })
  return rates
}

/** Nothing was sent: the caller hears of it only if nobody else can serve. */
function full(call: Call, endpoint: Endpoint, verdict: Full, health: Pick<Health, 'pause'>): GatewayError {
  const { providerName } = endpoint
  const retryAfterMs = verdict.reason === 'rate' ? verdict.retryAfterMs : undefined
  // Tokens are short for this call; smaller ones may still fit.
  if (verdict.reason === 'rate' && verdict.rate === 'requests') health.pause(endpoint.id, verdict.retryAfterMs)
  call.trace.params['endpoint_limits'] = `${providerName} was passed over: ${reasonOf(verdict)}`
  return new GatewayError('rate_limit_exceeded', `${providerName} cannot be asked now: ${reasonOf(verdict)}`, {
    source: 'gateway',
    failover: 'next',
    providerName,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    metadata: { limit: limitOf(verdict), limit_source: 'endpoint' },
  })
}

const limitOf = (verdict: Full): string => (verdict.reason === 'rate' ? verdict.rate : 'concurrent_requests')

function reasonOf(verdict: Full): string {
  switch (verdict.reason) {
    case 'rate':
      return `the ${Math.round(verdict.state.limit)} ${verdict.rate} per minute that this gateway may send there are used up`
    case 'open':
      return `${verdict.limit} requests are running there, as many as this gateway may send at a time`
    default:
      return 'its limits cannot be told at the moment'
  }
}

import type { Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { asGatewayError, GatewayError, isGatewayError } from '../core/error.ts'
import { EventStreamError } from '../lib/aws-event-stream.ts'
import { HttpFailure } from '../lib/http-client.ts'
import { SseLimitError } from '../lib/sse.ts'
import { abortReason } from './abort-reason.ts'
import type { ExpiredLimit } from './attempt-timer.ts'

const LIMIT_MESSAGES: { readonly [L in ExpiredLimit]: string } = {
  first_token: 'sent nothing within the first-token limit',
  idle: 'fell silent in the middle of its answer',
  total: 'did not finish its answer within the total limit',
}

/** Why an attempt failed. A limit that ran out wins over a caller who left, and both over what the socket says. */
export function attemptFailure(
  error: unknown,
  { call, endpoint }: { readonly call: Call; readonly endpoint: Endpoint },
  expired: ExpiredLimit | undefined,
): GatewayError {
  const from = { source: 'provider', providerName: endpoint.providerName } as const
  if (expired !== undefined) {
    return new GatewayError('timeout', `${endpoint.providerName} ${LIMIT_MESSAGES[expired]}`, { ...from, cause: error, metadata: { limit: expired } })
  }
  if (call.signal.aborted) return abortReason(call.signal, error)
  if (isGatewayError(error)) return error.details.source === 'provider' ? error.with(from) : error
  if (error instanceof HttpFailure) {
    if (error.kind === 'exhausted') return noRoom(error)
    const failover = error.kind === 'connect-timeout' || error.twice ? 'next' : 'retry'
    return new GatewayError('provider_unavailable', `${endpoint.providerName}: ${error.message}`, { ...from, failover, cause: error })
  }
  if (error instanceof SseLimitError || error instanceof EventStreamError)
    return new GatewayError('provider_unavailable', `${endpoint.providerName}: ${error.message}`, { ...from, cause: error })
  return asGatewayError(error)
}

const COME_BACK_MS = 1_000

/** The gateway had no room for another connection, so nobody was asked. Another endpoint may have an open one; if not, nothing is lost by trying. */
function noRoom(cause: HttpFailure): GatewayError {
  const details = { source: 'gateway', failover: 'next', retryAfterMs: COME_BACK_MS, cause } as const
  return new GatewayError('provider_overloaded', 'The gateway has nothing left to connect with; try again', details)
}

import { GatewayError, isGatewayError } from '../core/error.ts'

/** Why a call's signal fired: the gateway gives its reason, a caller who leaves gives none. */
export function abortReason(signal: AbortSignal, cause: unknown = signal.reason): GatewayError {
  const reason: unknown = signal.reason
  return isGatewayError(reason) ? reason : new GatewayError('server', 'The caller went away', { cause })
}

/** Whether the caller has left. The gateway ends a call with an error of its own. */
export const hasLeft = (signal: AbortSignal): boolean => signal.aborted && !isGatewayError(signal.reason)

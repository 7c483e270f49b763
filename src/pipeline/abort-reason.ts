import { GatewayError, isGatewayError } from '../core/error.ts'

/** Who ended a call whose signal fired: the gateway itself says why, a caller just leaves. */
export function abortReason(signal: AbortSignal, cause: unknown = signal.reason): GatewayError {
  const reason: unknown = signal.reason
  return isGatewayError(reason) ? reason : new GatewayError('server', 'The caller went away', { cause })
}

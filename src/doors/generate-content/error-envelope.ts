import type { JsonObject } from '../../core/item.ts'
import type { ErrorEnvelope } from '../shared/door.ts'

/** google.rpc.Code by HTTP status: https://cloud.google.com/apis/design/errors */
const STATUSES: { readonly [status: number]: string | undefined } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** A failure in this format. `errorType`: the same word as in other formats, where programs of this one look for a reason. */
export function faultOf(code: number, message: string, errorType: string): JsonObject {
  const status = STATUSES[code] ?? (code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: errorType.toUpperCase(), domain: 'gateway' }
  return { code, message, status, details: [info] }
}

/** A failure before the first byte in this format: what it says of itself in the contract's envelope stands beside its own words. */
export function generateContentEnvelope({ error, ...beside }: ErrorEnvelope): JsonObject {
  const { code, message, metadata } = error
  return { error: { ...faultOf(code, message, metadata.error_type), metadata }, ...beside }
}

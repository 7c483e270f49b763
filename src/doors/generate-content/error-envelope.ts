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

/** A failure in this format. `errorType`: the same term as in other formats, put where clients of this one look for a reason. */
export function faultOf(code: number, message: string, errorType: string): JsonObject & { readonly details: readonly JsonObject[] } {
  const status = STATUSES[code] ?? (code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: errorType.toUpperCase(), domain: 'gateway' }
  return { code, message, status, details: [info] }
}

/**
 * A failure before the first byte in this format, with the details of the contract's envelope beside the format's own fields. When to retry is a detail of
 * its own, which clients of this format read instead of the header: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
 */
export function generateContentEnvelope({ error, ...beside }: ErrorEnvelope, _requestId: string, retryAfterSeconds?: number): JsonObject {
  const { code, message, metadata } = error
  const { details, ...fault } = faultOf(code, message, metadata.error_type)
  const again = retryAfterSeconds === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }]
  return { error: { ...fault, details: [...details, ...again], metadata }, ...beside }
}

import type { JsonObject } from '../../core/item.ts'
import type { ErrorEnvelope } from '../shared/door.ts'

const TYPES: { readonly [status: number]: string | undefined } = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

/** The error type of this format for an HTTP status. */
export const faultTypeOf = (status: number): string => TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

/**
 * Machine-readable details for a refused field, by field. Clients that let a server store their conversation send all of it themselves once they read that
 * this server does not.
 */
const DETAILS: ReadonlyMap<unknown, JsonObject> = new Map([['thread', { error_code: 'thread_unsupported_request' }]])

/** A failure before the first byte in this format: the same content in another layout. */
export function messagesEnvelope({ error, ...beside }: ErrorEnvelope, requestId: string): JsonObject {
  const { code, message, metadata } = error
  const { error_type: errorType, path } = metadata
  const details = DETAILS.get(path)
  const body = { type: faultTypeOf(code), message, error_type: errorType, ...(details === undefined ? {} : { details }) }
  return { type: 'error', error: body, metadata, request_id: requestId, ...beside }
}

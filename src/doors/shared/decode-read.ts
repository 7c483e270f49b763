import { GatewayError, isGatewayError } from '../../core/error.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decodeResponsesRequest, type DecodeOptions, type ResponsesHeaders } from '../responses/decode-request.ts'
import type { Read } from './door.ts'

/**
 * What a door has read as a request; `body` is what became of its body when a preset filled it in. A fault is told by the path it has in the
 * format the caller wrote. Throws GatewayError like `decodeResponsesRequest`.
 */
export function decodeRead({ pathOf }: Read, body: unknown, headers: ResponsesHeaders = {}, options: DecodeOptions = {}): ModelRequest {
  try {
    return decodeResponsesRequest(body, headers, options)
  } catch (error) {
    throw pathOf !== undefined && isGatewayError(error) ? renamed(error, pathOf) : error
  }
}

/** Sentences of validations begin with their path. */
function renamed(error: GatewayError, pathOf: (path: string) => string): GatewayError {
  const { path } = error.details
  if (path === undefined || pathOf(path) === path || !error.message.startsWith(path)) return error
  return new GatewayError(error.errorType, pathOf(path) + error.message.slice(path.length), { ...error.details, path: pathOf(path) })
}

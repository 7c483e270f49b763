import { GatewayError } from '../../core/error.ts'
import type { Read } from './door.ts'

/** An error in the terms of the caller's format: everything behind the doors names paths of Responses. */
export function withOwnPath(error: GatewayError, pathOf: Read['pathOf']): GatewayError {
  const { path } = error.details
  const own = path === undefined ? path : pathOf?.(path)
  if (path === undefined || own === undefined || own === path) return error
  // A path that is a single word may also occur in the sentence as an ordinary word.
  const message = /\W/.test(path) || error.message.startsWith(`${path} `) ? error.message.replace(path, () => own) : error.message
  return new GatewayError(error.errorType, message, { ...error.details, path: own })
}

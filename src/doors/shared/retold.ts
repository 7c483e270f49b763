import { GatewayError } from '../../core/error.ts'
import type { Read } from './door.ts'

/** An error in the words of the format its caller wrote: all behind the doors name paths of Responses. */
export function retold(error: GatewayError, pathOf: Read['pathOf']): GatewayError {
  const { path } = error.details
  const own = path === undefined ? path : pathOf?.(path)
  if (path === undefined || own === undefined || own === path) return error
  // A path of one word, alone, is a word of any sentence as well.
  const message = /\W/.test(path) || error.message.startsWith(`${path} `) ? error.message.replace(path, () => own) : error.message
  return new GatewayError(error.errorType, message, { ...error.details, path: own })
}

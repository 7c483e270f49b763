import type { IncomingMessage, ServerResponse } from 'node:http'
import { lingerAfter } from './linger.ts'

/** Requests whose callers wait for `100 Continue` before they send the body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * Delays `100 Continue` until the body is wanted (RFC 9110, 10.1.1): a caller whose key or length is refused has not sent megabytes by then. A
 * refused caller may send them all the same, so the connection ends with the answer.
 */
export function holdContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
  const writeHead = response.writeHead.bind(response)
  response.writeHead = ((...head: Parameters<typeof writeHead>) => {
    if (waiting.has(request)) {
      response.shouldKeepAlive = false
      lingerAfter(request)
    }
    return writeHead(...head)
  }) as typeof writeHead
}

/** The body is wanted. */
export function sendContinue(request: IncomingMessage): void {
  // Only these requests can be waiting, so others skip the look-up.
  if (request.headers.expect === undefined) return
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}

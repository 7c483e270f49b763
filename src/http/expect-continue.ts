import type { IncomingMessage, ServerResponse } from 'node:http'
import { lingerAfter } from './linger.ts'

/** Requests whose callers wait for a word before they send the body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * Holds the word back until the body is wanted (RFC 9110, 10.1.1): a caller whose key or length is refused has sent none of his megabytes then. Whether
 * a refused one sends them all the same nobody can know, so that the connection ends with the answer.
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
export function sayContinue(request: IncomingMessage): void {
  // Looked up for those alone that may wait.
  if (request.headers.expect === undefined) return
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}

import type { IncomingMessage, ServerResponse } from 'node:http'

/** True if the request was a preflight and has been answered. */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse) => boolean

/** The API only: the console and the probes serve their own pages and programs. */
const API = /^\/api(?:\/|\?|$)/
/** Browsers repeat a preflight after two hours at the latest. */
const MAX_AGE_S = 7_200
const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const HEADER_NAMES = /^[\w-]+(?: *, *[\w-]+)*$/

/**
 * Lets pages of these origins (`https://chat.example.com`, or `*` for all) call the API and read its answers, headers included. Other origins get no
 * such header, so browsers keep the answers from them. Credentials are not allowed for: there are no cookies, and a page needs a key like everybody
 * else. Rules: https://fetch.spec.whatwg.org/#http-cors-protocol, and https://wicg.github.io/private-network-access/ for a gateway on the private
 * network.
 */
export function createCrossOrigin(origins: () => readonly string[]): CrossOrigin {
  return (request, response) => {
    const { origin } = request.headers
    if (origin === undefined || origins().length === 0 || !API.test(request.url ?? '')) return false
    const allowed = origins().includes('*') ? '*' : origins().includes(origin) ? origin : undefined
    // A shared cache must not serve this answer to a page of another origin.
    if (allowed !== '*') response.setHeader('vary', 'Origin')
    if (allowed === undefined) return false
    response.setHeader('access-control-allow-origin', allowed)
    response.setHeader('access-control-expose-headers', '*')
    const { headers, method } = request
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    answerPreflight(request, response)
    return true
  }
}

function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const wanted = headers['access-control-request-headers']
  response.writeHead(204, {
    'access-control-allow-methods': METHODS,
    'access-control-max-age': String(MAX_AGE_S),
    ...(wanted !== undefined && HEADER_NAMES.test(wanted) ? { 'access-control-allow-headers': wanted } : {}),
    ...(headers['access-control-request-private-network'] === 'true' ? { 'access-control-allow-private-network': 'true' } : {}),
  })
  response.end()
}

import type { IncomingMessage, ServerResponse } from 'node:http'

/** True: the request only asked whether it may be made, and has its answer. */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse) => boolean

/** Of the API alone: the console and what probes read are for their own pages and programs. */
const API = /^\/api(?:\/|\?|$)/
/** Browsers ask again after two hours at the latest. */
const MAX_AGE_S = 7_200
const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const HEADER_NAMES = /^[\w-]+(?: *, *[\w-]+)*$/

/**
 * Lets pages of these origins (`https://chat.example.com`, or `*` for all) ask the API and read its answers, headers included; those of
 * others are told nothing, so that browsers keep answers from them. Nothing is said of credentials: there are no cookies, a page needs a
 * key like anybody else. Rules: https://fetch.spec.whatwg.org/#http-cors-protocol, and
 * https://wicg.github.io/private-network-access/ for a gateway on the private network.
 */
export function createCrossOrigin(origins: () => readonly string[]): CrossOrigin {
  return (request, response) => {
    const { origin } = request.headers
    if (origin === undefined || origins().length === 0 || !API.test(request.url ?? '')) return false
    const allowed = origins().includes('*') ? '*' : origins().includes(origin) ? origin : undefined
    // What is kept on the way must not be shown to a page of another origin.
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

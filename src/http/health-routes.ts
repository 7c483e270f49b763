import type { ServerResponse } from 'node:http'
import type { RouteHandler } from './server.ts'

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

/** `GET /healthz`: the process lives. */
export const healthRoute: RouteHandler = (_request, response) => answer(response, 200, { status: 'ok' })

/** `GET /readyz`: whether it can serve; `notReady` names what is missing. */
export function readyRoute(notReady: () => string | undefined): RouteHandler {
  return (_request, response) => {
    const reason = notReady()
    if (reason === undefined) answer(response, 200, { status: 'ready' })
    else answer(response, 503, { status: 'not_ready', reason })
  }
}

import type { ServerResponse } from 'node:http'
import type { Readiness } from './readiness.ts'
import type { RouteHandler } from './server.ts'

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

/** `GET /healthz`: the process is alive. */
export const healthRoute: RouteHandler = (_request, response) => answer(response, 200, { status: 'ok' })

/** `GET /readyz`: whether it should get work. Also names what is degraded without keeping it from serving. */
export function readyRoute(readiness: () => Readiness): RouteHandler {
  return (_request, response) => {
    const { reason, degraded } = readiness()
    const more = degraded.length === 0 ? {} : { degraded }
    if (reason === undefined) answer(response, 200, { status: 'ready', ...more })
    else answer(response, 503, { status: 'not_ready', reason, ...more })
  }
}

/** `OPTIONS /` and `OPTIONS *`: the default check of some load balancers. Answers as `readyz` does. */
export function balancerRoute(ready: RouteHandler, others: RouteHandler): RouteHandler {
  return (request, response) => {
    if (request.method !== 'OPTIONS' || (request.url !== '/' && request.url !== '*')) return others(request, response)
    request.resume()
    ready(request, response)
  }
}

/** For a process that only delivers: no API, but probes, metrics, and an error that says so. */
export function workerRoute(fallback: RouteHandler): RouteHandler {
  return (request, response) => {
    const [path] = (request.url ?? '').split('?', 1)
    if ((request.method === 'GET' || request.method === 'HEAD') && path === '/metrics') return fallback(request, response)
    request.resume()
    answer(response, 404, {
      error: {
        code: 404,
        message: 'This process only delivers (role worker); ask one that serves the API (role gateway or all)',
        metadata: { error_type: 'not_found', source: 'gateway' },
      },
    })
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Hands a request to fastify once it is built: until then requests wait, so that the socket can open first. */
export function lazyHandler(build: () => Promise<FastifyInstance>): (request: IncomingMessage, response: ServerResponse) => void {
  let app: FastifyInstance | undefined
  return (request, response) => {
    if (app !== undefined) return app.routing(request, response)
    build().then(
      (built) => {
        app = built
        app.routing(request, response)
      },
      () => response.writeHead(500).end(),
    )
  }
}

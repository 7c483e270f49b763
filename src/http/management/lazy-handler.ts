import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** An API that is built when it is first needed, so that the socket can open first. Once; after a failure again with the next request. */
export class LazyApi<T extends { readonly app: FastifyInstance }> {
  readonly #build: () => Promise<T>
  #building: Promise<T> | undefined
  #built: T | undefined

  constructor(build: () => Promise<T>) {
    this.#build = build
  }

  get(): Promise<T> {
    this.#building ??= this.#build().then(
      (built) => (this.#built = built),
      (error: unknown) => {
        this.#building = undefined
        throw error
      },
    )
    return this.#building
  }

  /** Hands a request to fastify; until it is built requests wait. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (this.#built !== undefined) return this.#built.app.routing(request, response)
    this.get().then(
      ({ app }) => app.routing(request, response),
      () => response.writeHead(500).end(),
    )
  }
}

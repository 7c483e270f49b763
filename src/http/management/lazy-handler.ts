import type { IncomingMessage, ServerResponse } from 'node:http'
import { asGatewayError, type GatewayError } from '../../core/error.ts'
import { renderError } from '../error-handler.ts'
import { requestIdOf } from '../request-headers.ts'

export interface LazyApiOptions {
  /** Called with the reason if it cannot be built, and the id that the caller sees. */
  readonly onBug: (error: GatewayError, requestId: string) => void
  readonly newRequestId: () => string
}

/** An API that is built with its first request, so that the socket can open first. It is built once, and after a failure again with the next request. */
export class LazyApi<T extends { readonly app: { routing(request: IncomingMessage, response: ServerResponse): void } }> {
  readonly #build: () => Promise<T>
  readonly #options: LazyApiOptions
  #building: Promise<T> | undefined
  #built: T | undefined

  constructor(build: () => Promise<T>, options: LazyApiOptions) {
    this.#build = build
    this.#options = options
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

  /** Passes a request on; requests wait until the API is built. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (this.#built !== undefined) return this.#built.app.routing(request, response)
    this.get().then(
      ({ app }) => app.routing(request, response),
      (error: unknown) => this.#refuse(request, response, asGatewayError(error)),
    )
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: GatewayError): void {
    const id = requestIdOf(request) ?? this.#options.newRequestId()
    this.#options.onBug(error, id)
    const { status, headers, body } = renderError(error, id)
    response.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': Buffer.byteLength(body) }).end(body)
  }
}

import type { IncomingMessage } from 'node:http'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { ApiKey, KeyKind } from '../../core/store.ts'
import type { Owner } from '../../core/call.ts'
import { asGatewayError, GatewayError, type GatewayError as Failure } from '../../core/error.ts'
import { renderError } from '../error-handler.ts'
import { requestIdOf } from '../request-headers.ts'

/** Who may call a route: nobody in particular, the holder of any key, or of a key of one kind. */
export type Access = 'public' | 'any' | KeyKind

export interface Caller {
  readonly owner: Owner
  readonly key: ApiKey
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: `management`. A route that forgets to say who may call it is closed. */
    readonly access?: Access
  }
  interface FastifyRequest {
    caller?: Caller
  }
}

export interface ManagementOptions {
  /** Throws GatewayError `authentication` or, for the wrong kind of key, `permission_denied`. */
  readonly authenticate: (authorization: string | undefined, kind: KeyKind | undefined) => Caller
  readonly onBug: (error: Failure, requestId: string) => void
  readonly newRequestId: () => string
  readonly bodyLimitBytes: number
}

export type ManagementRoutes = (app: FastifyInstance) => void

/** The management API on fastify: one authentication hook, one error handler, routes added by the files beside this one. */
export function createManagementApp(options: ManagementOptions, routes: readonly ManagementRoutes[]): FastifyInstance {
  const app = fastify({
    bodyLimit: options.bodyLimitBytes,
    genReqId: (request: IncomingMessage) => requestIdOf(request) ?? options.newRequestId(),
    routerOptions: { maxParamLength: 512 },
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
  })
  // Bodies without a type are JSON too: people use curl.
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    void app.getDefaultJsonParser('error', 'error')(request, body as string, done)
  })
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id)
    const access = request.routeOptions.config.access ?? 'management'
    if (access !== 'public' && request.routeOptions.url !== undefined) {
      request.caller = options.authenticate(request.headers.authorization, access === 'any' ? undefined : access)
    }
    done()
  })
  app.setErrorHandler((thrown, request, reply) => {
    const error = toGatewayError(thrown)
    if (error.errorType === 'server') options.onBug(error, request.id)
    const rendered = renderError(error, request.id)
    return reply.code(rendered.status).headers(rendered.headers).send(rendered.body)
  })
  app.setNotFoundHandler((request, reply) => {
    const rendered = renderError(
      new GatewayError('not_found', `There is no ${request.method} ${request.url.split('?', 1)[0]!.slice(0, 200)}`),
      request.id,
    )
    return reply.code(rendered.status).headers(rendered.headers).send(rendered.body)
  })
  for (const add of routes) add(app)
  return app
}

/** The caller of a route that is not public. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new GatewayError('authentication', 'An API key is required')
  return request.caller
}

/** fastify's own refusals (malformed JSON, too large) in our vocabulary. */
function toGatewayError(thrown: unknown): GatewayError {
  const { statusCode, message } = thrown as { readonly statusCode?: number; readonly message?: string }
  if (statusCode === 413) return new GatewayError('payload_too_large', 'The body is too large')
  if (statusCode === 400) return new GatewayError('invalid_request', `The request is not valid: ${message ?? ''}`)
  return asGatewayError(thrown)
}

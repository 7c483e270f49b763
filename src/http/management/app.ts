import type { IncomingMessage } from 'node:http'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteHandlerMethod } from 'fastify'
import type { ApiKey, KeyKind } from '../../core/store.ts'
import type { Owner } from '../../core/call.ts'
import { asGatewayError, GatewayError, isGatewayError, type GatewayError as Failure } from '../../core/error.ts'
import { FOLDER } from '../../doors/deployments.ts'
import { DOORS } from '../../doors/index.ts'
import type { Admission } from '../admission.ts'
import type { BodyHold } from '../body-memory.ts'
import type { Door } from '../../doors/shared/door.ts'
import { jsonOf, readBody, refuseEncoding } from '../body.ts'
import { renderError } from '../error-handler.ts'
import { liftKey } from '../key-parameter.ts'
import { requestIdOf } from '../request-headers.ts'
import { FairQueue } from './fair-queue.ts'
import { refuseNullCharacters } from './null-character.ts'
import type { Access, RegisteredRoute, RouteDoc } from './route-doc.ts'
import { spellId } from './uuid-spelling.ts'

/** Where clients of a format put their key. */
export type KeyPlace = Pick<Door, 'keyHeader' | 'keyParameter'>

export interface Caller {
  readonly owner: Owner
  readonly key: ApiKey
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: `management`, so that a route which does not say who may call it is closed. */
    readonly access?: Access
    /** Other places than `authorization` for a key. */
    readonly keyPlaces?: readonly KeyPlace[]
    /** The path as documented, with parameters as `:name`, if the router's pattern says less. */
    readonly address?: string
    readonly doc?: RouteDoc
    /** It waits for others than the database, perhaps for long. */
    readonly asksElsewhere?: boolean
    /** A page for people, and no part of the API. */
    readonly isPage?: boolean
  }
  interface FastifyRequest {
    caller?: Caller
    /** The memory of the body of an admitted caller. */
    hold?: BodyHold
  }
}

export interface ManagementOptions {
  /** Throws or rejects with GatewayError `authentication` or, for the wrong kind of key, `permission_denied`. */
  readonly authenticate: (request: IncomingMessage, kind: KeyKind | undefined, keyHeader?: string) => Caller | Promise<Caller>
  /**
   * Admits callers with inference keys, as on the way to a model. Management keys always get in, because they are needed when there is trouble.
   * Absent: everybody is admitted.
   */
  readonly admission?: Pick<Admission, 'enter' | 'leave' | 'holdBody'>
  readonly onBug: (error: Failure, requestId: string) => void
  readonly newRequestId: () => string
  readonly bodyLimitBytes: number
  /** How long a body may pause. Default: that of `readBody`. */
  readonly bodyStallMs?: number
  /** Called once for every route, in the order they are added. */
  readonly onRoute?: (route: RegisteredRoute) => void
}

const MAX_ID_CHARS = 512

export type ManagementRoutes = (app: FastifyInstance) => void

/** The management API on fastify: one authentication hook, one error handler, and the routes of the files beside this one. */
export function createManagementApp(options: ManagementOptions, routes: readonly ManagementRoutes[]): FastifyInstance {
  const app = fastify({
    bodyLimit: options.bodyLimitBytes,
    genReqId: (request: IncomingMessage) => requestIdOf(request) ?? options.newRequestId(),
    routerOptions: { maxParamLength: MAX_ID_CHARS },
    // Errors of the framework before it has found a route, and so before any hook.
    frameworkErrors: (thrown, request, reply) => void sendError(options, toGatewayError(thrown), request, reply.header('x-request-id', request.id)),
  })
  // Bodies with another type, or none, are parsed as JSON too, because people use curl. An empty body is none, even with a type, which clients always
  // send.
  app.removeAllContentTypeParsers()
  // Read and parsed as on the way to a model, with the same bounds on size, keys, depth and pauses.
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: IncomingMessage) => {
    const { hold } = request
    const again = (): unknown => request.caller && authenticated(options, request)
    const bounds = { limitBytes: request.routeOptions.bodyLimit, stallMs: options.bodyStallMs, letIn: again, ...(hold === undefined ? {} : { hold }) }
    const body = await readBody(stream, bounds)
    return body.length === 0 ? undefined : jsonOf(body)
  })
  const queue = new FairQueue()
  app.addHook('onRoute', (route) => {
    const { method, url, config } = route
    // A call for a model waits for no stored data.
    if (!['public', 'inference'].includes(accessOf(config)) && config?.asksElsewhere !== true) route.handler = inTurn(route.handler, queue, options)
    if (config?.isPage === true) return
    // HEAD is answered as GET.
    for (const one of [method].flat())
      if (one !== 'HEAD') options.onRoute?.({ method: one, url: config?.address ?? url, access: accessOf(config), doc: config?.doc })
  })
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id)
    // Before waiting for a body that nobody wants.
    if (request.is404) throw missing(request)
    const { config } = request.routeOptions
    const access = accessOf(config)
    if (access !== 'public' && request.routeOptions.url !== undefined) {
      for (const place of config.keyPlaces ?? []) liftKey(request.raw, place)
      request.caller = await authenticated(options, request)
      letIn(options, request.caller, request, reply)
    }
    refuseEncoding(request.headers['content-encoding'])
  })
  app.addHook('preValidation', (request, _reply, done) => {
    // Questions to a model are not stored and may hold any character.
    const isCall = accessOf(request.routeOptions.config) === 'inference'
    spellId(request.params)
    refuseNullCharacters({ params: request.params, query: request.query, body: isCall ? undefined : request.body })
    done()
  })
  app.setErrorHandler((thrown, request, reply) => sendError(options, toGatewayError(thrown), request, reply))
  app.setNotFoundHandler((request, reply) => sendError(options, missing(request), request, reply))
  for (const add of routes) add(app)
  return app
}

/** Who sends a request, if its key may use the route. */
function authenticated({ authenticate }: ManagementOptions, { raw, headers, routeOptions: { config } }: FastifyRequest): Caller | Promise<Caller> {
  const access = accessOf(config)
  const { keyHeader } = (config.keyPlaces ?? []).find((place) => place.keyHeader !== undefined && headers[place.keyHeader] !== undefined) ?? {}
  return authenticate(raw, access === 'any' || access === 'public' ? undefined : access, keyHeader)
}

/** Those who take turns already: what answers to GET answers to HEAD as it is. */
const taking = new WeakSet<RouteHandlerMethod>()

/** For as long as it works, whether or not its caller waits for it: whoever leaves at once could have any number at work otherwise. */
function inTurn(handler: RouteHandlerMethod, queue: FairQueue, options: ManagementOptions): RouteHandlerMethod {
  if (taking.has(handler)) return handler
  const waiting: RouteHandlerMethod = async function (request, reply) {
    const { workspaceId } = callerOf(request).owner
    const turn = queue.enter(workspaceId)
    await turn
    try {
      // Behind a thousand others that takes minutes, in which the key may have been revoked because of them.
      if (turn !== undefined) await authenticated(options, request)
      return await handler.call(this, request, reply)
    } finally {
      queue.leave(workspaceId)
    }
  }
  taking.add(waiting)
  return waiting
}

/** Before the body is read, which may be as large as a question to a model. */
function letIn({ admission }: ManagementOptions, { owner, key }: Caller, request: FastifyRequest, reply: FastifyReply): void {
  if (admission === undefined || key.kind !== 'inference') return
  // The caller left while the key was looked up: nobody would give the place back.
  if (reply.raw.destroyed) throw new GatewayError('invalid_request', 'The connection closed before the key was checked')
  admission.enter(owner.keyHash)
  const hold = (request.hold = admission.holdBody())
  reply.raw.once('close', () => {
    hold.release()
    admission.leave(owner.keyHash)
  })
}

function missing({ method, url }: FastifyRequest): GatewayError {
  const path = url.split('?', 1)[0]!
  return new GatewayError('not_found', `There is no ${method} ${path.slice(0, 200)}${wayTo(path)}`)
}

/** Routes of other servers, and what to use here instead. */
const ELSEWHERE: readonly (readonly [place: RegExp, instead: string])[] = [
  [/\/files(?:[/:]|$)/, ': files are not stored, so send the bytes of a file, or its address, with each request'],
  [
    /\/cachedContents(?:\/|$)/i,
    ': prompts are not stored, so send all of a conversation with each request; what repeats is read from the cache of its provider',
  ],
  [/\/interactions(?:\/|$)/, ': use POST /api/v1beta/models/{model}:generateContent (base URL: /api), and answers are not stored'],
  [/\/batches(?:\/|$)/, ': there are no batches, so ask one by one'],
]

/** What clients that know a folder of their own ask for. They add it to the base URL, so that no base URL with a version suits them. */
const BELOW_FOLDER = new RegExp(`${FOLDER.slice(FOLDER.lastIndexOf('/'))}(?:/v1|/deployments/.+)?/(?:responses|chat/completions|embeddings)$`)

/** Longer paths are not searched for it: they may be made to repeat what the search begins with. */
const MAX_SEARCHED = 300

/** For clients with a slightly wrong base URL, of another format, or of stored responses. */
function wayTo(path: string): string {
  const [below] = path.startsWith(`${FOLDER}/`) || path.length > MAX_SEARCHED ? [] : (BELOW_FOLDER.exec(path) ?? [])
  if (below !== undefined) return `: use POST /api${below} (base URL: /api)`
  const [, end] = /\/(responses|(?:chat\/)?completions|messages|embeddings|models)\/?$/.exec(path) ?? []
  // First: a base URL that already contains the route, not followed by an id.
  if (path.endsWith(':generateContent') || path.endsWith(':streamGenerateContent'))
    return ': use POST /api/v1beta/models/{model}:generateContent (base URL: /api)'
  if (end === 'messages') return ': use POST /api/v1/messages (base URL: /api)'
  if (end === 'completions') return ': this gateway does not speak that format: use POST /api/v1/chat/completions (base URL: /api/v1)'
  if (end === 'embeddings') return ': use POST /api/v1/embeddings (base URL: /api/v1)'
  if (end === 'models') return ': models are listed with GET /api/v1/models (base URL: /api/v1)'
  if (end !== undefined) return `: use POST /api/v1/${end} (base URL: /api/v1)`
  if (/\/responses\/(?!compact\b|input_tokens\b)[^/]|\/conversations(?:\/|$)/.test(path))
    return ': answers and conversations are not stored, so send the items of a conversation with each POST /api/v1/responses'
  return ELSEWHERE.find(([place]) => place.test(path))?.[1] ?? ''
}

/** Requests for a format's route at a wrong path, or for a part that is not served, get errors in that format. */
function envelopeFor({ url, is404, headers }: FastifyRequest): Door['envelope'] {
  const path = `${url.split('?', 1)[0]!}/`
  const byHeaders = is404 ? DOORS.find((door) => door.isSpokenBy?.(headers)) : undefined
  if (byHeaders !== undefined) return byHeaders.envelope
  const isOf = ({ path: own, methods, ownsRequest }: Pick<Door, 'path' | 'methods' | 'ownsRequest'>): boolean => {
    if (ownsRequest?.(path, headers) === false) return false
    const folder = own.replace(/\/$/, '')
    // Several formats have models; only the version before them tells which one is meant.
    const part = methods === undefined ? folder.slice(folder.lastIndexOf('/')) : folder.replace(/^\/api/, '')
    return is404 ? path.includes(`${part}/`) : path.startsWith(`${folder}/`)
  }
  return DOORS.find((door) => door.envelope !== undefined && isOf(door))?.envelope
}

const accessOf = (config: { readonly access?: Access } | undefined): Access => config?.access ?? 'management'

/** The caller of a route that is not public. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new GatewayError('authentication', 'An API key is required')
  return request.caller
}

function sendError(options: ManagementOptions, error: GatewayError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.errorType === 'server') options.onBug(error, request.id)
  const rendered = renderError(error, request.id, undefined, undefined, envelopeFor(request))
  return reply.code(rendered.status).headers(rendered.headers).send(rendered.body)
}

/** fastify's own errors (malformed JSON, too large, an invalid content type) in our vocabulary. */
function toGatewayError(thrown: unknown): GatewayError {
  const { code, statusCode, message } = thrown as { readonly code?: string; readonly statusCode?: number; readonly message?: string }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new GatewayError('not_found', `There is nothing of this name: no id has more than ${MAX_ID_CHARS} characters`)
  if (statusCode === 413) return new GatewayError('payload_too_large', 'The body is too large')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500 && !isGatewayError(thrown)) {
    return new GatewayError('invalid_request', `The request is not valid: ${message ?? ''}`)
  }
  return asGatewayError(thrown)
}

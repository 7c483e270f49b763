import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ServerConfig } from '../core/config.ts'
import { createServer } from '../lib/node-http.ts'
import { openFilesLimit } from '../lib/open-files.ts'
import { createCrossOrigin } from './cross-origin.ts'
import { rememberConnections } from './drain.ts'
import { holdContinue } from './expect-continue.ts'
import { refuse, refuseInTurn } from './refuse-connection.ts'
import { createRouteTable, type RouteHandler } from './route-table.ts'
import { cutSlowReaders } from './slow-readers.ts'

export type { RouteHandler } from './route-table.ts'

export interface ServerOptions {
  /** Hot routes by `METHOD /path`, or `METHOD /path/:name:method`; everything else goes to `fallback`. */
  readonly routes: ReadonlyMap<string, RouteHandler>
  readonly fallback: RouteHandler
  /** Default: no other origin may ask, and idle connections are kept five seconds longer than most load balancers keep theirs. */
  readonly settings?: () => Pick<ServerConfig, 'allowedOrigins' | 'keepAliveTimeout'>
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  /** How long a caller may read nothing of an answer that waits for it. */
  readonly stallTimeoutMs?: number
  /** The slowest rate at which a large answer must be read. */
  readonly minBytesPerSecond?: number
  /** Connections beyond this number are closed on arrival. Default: leaves every caller a file descriptor for an upstream. */
  readonly maxConnections?: number
}

const CLIENT_ERRORS: { readonly [code: string]: readonly [status: string, message: string] } = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request came too slowly'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large'],
}
const NOT_HTTP = ['400 Bad Request', 'The request is not valid HTTP'] as const
const NO_HOST = ['400 Bad Request', 'The request has no Host header, which HTTP/1.1 asks for'] as const
const NO_TUNNEL = ['400 Bad Request', 'This is not a proxy: CONNECT is not supported'] as const
const NO_WEBSOCKET = ['426 Upgrade Required', 'There are no websockets here: POST to this address over HTTP'] as const
const UNMET = ['417 Expectation Failed', 'The only expectation that is met is 100-continue'] as const

const CHECK_MS = 2_500
const UNTOLD = { allowedOrigins: [], keepAliveTimeout: 65_000 }

/**
 * `node:http` with our own table for the hot routes: a framework in between costs a quarter of the requests per second. Invalid HTTP is answered with
 * the same error envelope, and the connection is closed. Offers to upgrade are ignored, because HTTP/2 clients make one with every first request.
 * Only a websocket request for a POST route is answered with 426: coding agents then use HTTP at once, while after any other answer they retry for
 * seconds.
 */
export function createGatewayServer(options: ServerOptions): Server {
  const { routes, fallback, settings = () => UNTOLD } = options
  const find = createRouteTable(routes)
  const isPreflight = createCrossOrigin(() => settings().allowedOrigins)
  const serve: RouteHandler = (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') return refuse(request.socket, NO_HOST)
    const url = request.url ?? '/'
    if (url.charCodeAt(0) !== SLASH) request.url = originForm(url)
    const path = request.url ?? '/'
    const query = path.indexOf('?')
    const pathname = query === -1 ? path : path.slice(0, query)
    // HEAD requests (load balancers probe with them) are answered like GET, without the body.
    const handler = find(request.method === 'HEAD' ? 'GET' : (request.method ?? ''), pathname)
    if (request.headers.origin !== undefined && isPreflight(request, response)) return
    if (handler !== undefined) handler(request, response)
    else if (asksForWebsocket(request) && routes.has(`POST ${pathname}`)) refuse(request.socket, NO_WEBSOCKET, 'upgrade: HTTP/1.1\r\n')
    else fallback(request, response)
  }
  const headersTimeout = options.headersTimeoutMs ?? 15_000
  const server = createServer(
    {
      keepAliveTimeout: settings().keepAliveTimeout,
      headersTimeout,
      requestTimeout: options.requestTimeoutMs ?? 120_000,
      connectionsCheckingInterval: Math.min(CHECK_MS, headersTimeout),
      maxHeaderSize: 32 * 1024,
      noDelay: true,
      // Node's own answer would have no body.
      requireHostHeader: false,
    },
    oneAtATime(serve),
  )
  const maxConnections = options.maxConnections ?? connectionsFor(openFilesLimit())
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  rememberConnections(server)
  cutSlowReaders(server, options.stallTimeoutMs ?? 60_000, options.minBytesPerSecond ?? 4_096)
  // No further bytes of a refused connection are read.
  const refused = new WeakSet<Socket>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    if (refused.has(socket)) return
    refused.add(socket)
    refuseInTurn(socket, CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP)
  })
  server.on('connect', (_request, socket: Socket) => {
    // Node removes its listeners from such a connection, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy())
    refuseInTurn(socket, NO_TUNNEL)
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    holdContinue(request, response)
    server.emit('request', request, response)
  })
  server.on(
    'checkExpectation',
    oneAtATime((request) => refuse(request.socket, UNMET)),
  )
  return server
}

const asksForWebsocket = ({ method, headers }: IncomingMessage): boolean => method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** Requests that may wait behind another on one connection. */
const MAX_PIPELINED = 256

/**
 * Starts a pipelined request only when the answer before it has been taken. Node would start all of them at once, and a packet of small requests
 * whose answers nobody reads would be answered into memory. A connection that pipelines too much is closed.
 */
function oneAtATime(serve: RouteHandler): RouteHandler {
  const waiting = new WeakMap<Socket, number>()
  return (request, response) => {
    // Only the response whose turn it is has a socket.
    if (response.socket !== null) return serve(request, response)
    const { socket } = request
    const before = waiting.get(socket) ?? 0
    if (before >= MAX_PIPELINED) return void socket.destroy()
    waiting.set(socket, before + 1)
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
      serve(request, response)
    })
  }
}

/** File descriptors for anything but connections of callers and upstreams: database, logs, destinations. */
const OTHER_FILES = 128

/** Callers get half of the file descriptors: without one left, the process could accept callers and serve nobody. */
function connectionsFor(files: number | undefined): number | undefined {
  return files === undefined ? undefined : Math.max(16, Math.floor((files - OTHER_FILES) / 2))
}

const SLASH = 47
const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** The target `http://host/path` as `/path`, whatever host it names. Anything else stays as it is and is not found. */
function originForm(target: string): string {
  const path = target.replace(ABSOLUTE, '')
  return path.startsWith('?') || path === '' ? `/${path}` : path
}

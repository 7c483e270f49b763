import type { FastifyReply, FastifyRequest } from 'fastify'
import { GatewayError } from '../../core/error.ts'
import type { ManagementRoutes } from './app.ts'

/** One file of the built console. */
export interface ConsoleFile {
  /** Relative to `/console/`: `assets/index-abc.js`. */
  readonly path: string
  readonly type: string
  /** The compressed copies beside it, the smallest first. */
  readonly encodings: readonly string[]
}

/** All files that are served; no other path is ever looked up on the disk. */
export interface ConsoleFiles {
  /** Changes with every build. */
  readonly build: string
  readonly get: (path: string) => ConsoleFile | undefined
  readonly read: (file: ConsoleFile, encoding: string | undefined) => Promise<Buffer>
}

export interface ConsoleRouteOptions {
  /** Undefined if it was not built. */
  readonly files: ConsoleFiles | undefined
  readonly isOn: () => boolean
}

const PREFIX = '/console/'
const ENTRY = 'index.html'
const YEAR_SECONDS = 31_536_000

/**
 * The page holds a management key: only its own files may run in it, it may talk to this gateway only, and no other page may frame it. Inline styles
 * are allowed, because its components set widths and positions on elements.
 */
const PROTECTION = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const page = { config: { access: 'public', isPage: true } } as const

/** The web console: its files below `/console/`, and a redirect from `/` for browsers. It is a client of the API like any other, with no rights of its own. */
export function consoleRoutes({ files, isOn }: ConsoleRouteOptions): ManagementRoutes {
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<Buffer | undefined> => {
    if (!isOn()) throw new GatewayError('not_found', 'The web console is switched off (server.console)')
    if (files === undefined) throw new GatewayError('not_found', 'The web console was not built: npm run build')
    const path = (request.params as { readonly '*': string })['*']
    const file = files.get(path) ?? (isAddress(path) ? files.get(ENTRY) : undefined)
    if (file === undefined) throw new GatewayError('not_found', 'The console has no such file; a page that is open may be of another version')
    const isEntry = file.path === ENTRY
    // Weak, because all encodings of a file share it.
    const tag = `W/"${files.build}"`
    const cached = isEntry || !file.path.startsWith('assets/') ? 'no-cache' : `public, max-age=${YEAR_SECONDS}, immutable`
    void reply.headers({ ...PROTECTION, 'cache-control': cached, etag: tag, vary: 'accept-encoding' }).type(file.type)
    if (request.headers['if-none-match'] === tag) {
      void reply.code(304)
      return undefined
    }
    const encoding = file.encodings.find((one) => accepts(request.headers['accept-encoding'], one))
    if (encoding !== undefined) void reply.header('content-encoding', encoding)
    return files.read(file, encoding)
  }
  return (app) => {
    app.get(`${PREFIX}*`, page, serve)
    app.get(PREFIX.slice(0, -1), page, (_request, reply) => reply.redirect(PREFIX))
    app.get('/', page, (request, reply) => {
      // A program that asks here has a wrong base URL, and should be told so.
      if (!isOn() || request.headers.accept?.includes('text/html') !== true) throw new GatewayError('not_found', 'There is no GET /')
      return reply.redirect(PREFIX)
    })
  }
}

/** Pages have addresses that only the console knows; files have an extension. */
const isAddress = (path: string): boolean => !/\.\w+$/.test(path)

function accepts(header: string | undefined, encoding: string): boolean {
  return (header ?? '').split(',').some((one) => {
    const [name, ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

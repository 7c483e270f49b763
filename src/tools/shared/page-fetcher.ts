import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { GatewayError } from '../../core/error.ts'
import type { Download, PageRequest, WebPage, WebPages } from '../../core/web.ts'
import { decodeText } from '../../lib/decode-text.ts'
import { EgressError, type Egress, type EgressResponse } from '../../lib/egress.ts'
import { endOfLetters, sniffMediaType } from '../../lib/media-type.ts'
import { redirectTarget } from '../../lib/redirect-target.ts'
import { DocumentParser } from './parse-document.ts'
import { robotsAllow } from './robots.ts'

export interface PageFetcherOptions {
  readonly egress: Egress
  readonly parser?: DocumentParser
  readonly obeyRobots: boolean
  /** What is fetched, for messages; default: a page. */
  readonly noun?: string
  /** The most bytes of a page, both compressed and unpacked. */
  readonly maxBytes?: number
  readonly timeoutMs?: number
}

const MAX_HOPS = 5
const MAX_BYTES = 8 * 1024 * 1024
const TIMEOUT_MS = 20_000
const ROBOTS = { agent: 'signalbox', timeoutMs: 5_000, maxBytes: 512 * 1024, ttlMs: 10 * 60_000, maxOrigins: 500 }
const NOBODY = 'User-agent: *\nDisallow: /'
const REFUSED = Symbol('refused')
const ACCEPT = 'text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,application/json;q=0.8,*/*;q=0.1'

type Unpacker = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const unpackers: ReadonlyMap<string, Unpacker> = new Map<string, Unpacker>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])
/** Encodings that pack, but that nothing here unpacks. */
const FOREIGN_PACKINGS: ReadonlySet<string> = new Set(['compress', 'x-compress', 'zstd', 'dcb', 'dcz'])
/** Each may cost as much memory as a page. */
const MAX_PACKINGS = 3

/**
 * Reads pages chosen by a model or a third party: without cookies or credentials, with every hop going through the egress and checked against the caller's
 * lists again. Throws GatewayError whose message may be shown to the model.
 */
export class PageFetcher implements WebPages {
  readonly #options: PageFetcherOptions
  readonly #parser: DocumentParser
  readonly #robots = new Map<string, { readonly text: string | undefined; readonly until: number }>()

  constructor(options: PageFetcherOptions) {
    this.#options = options
    this.#parser = options.parser ?? new DocumentParser()
  }

  readonly fetch = async (request: PageRequest): Promise<WebPage> => {
    const { address, response } = await this.#follow(request, this.#options.obeyRobots)
    return this.#read(address, response, request.signal)
  }

  /** Ignores robots.txt, because the caller refers to a file of their own. */
  readonly download = async (request: PageRequest): Promise<Download> => {
    const { response } = await this.#follow(request, false)
    const { status, truncated, headers } = response
    if (status < 200 || status >= 300)
      throw new GatewayError('not_found', `The file's address answers with status ${status}`, { upstreamStatus: status })
    if (truncated) throw new GatewayError('unprocessable', 'The file is too large')
    const bytes = await unpack(response, this.#options.maxBytes ?? MAX_BYTES)
    const type = (headers['content-type'] ?? '').toLowerCase()
    const charset = charsetIn(type)
    return { bytes, mimeType: type.split(';')[0]!.trim(), ...(charset === undefined ? {} : { charset }) }
  }

  /** The answer after redirects; every hop is checked against the caller's lists, the site's robots.txt and the egress. */
  async #follow(request: PageRequest, obeyRobots: boolean): Promise<{ readonly address: string; readonly response: EgressResponse }> {
    const until = performance.now() + (this.#options.timeoutMs ?? TIMEOUT_MS)
    let address = request.url
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const refusal = request.refuse(address)
      if (refusal !== undefined) throw new GatewayError('permission_denied', refusal)
      if (obeyRobots && !(await this.#allowed(address, request))) {
        throw new GatewayError('permission_denied', `${new URL(address).hostname} does not want this page fetched by programs (robots.txt)`)
      }
      const response = await this.#get(address, until - performance.now(), this.#options.maxBytes ?? MAX_BYTES, request.signal)
      const { location } = response.headers
      if (response.status < 300 || response.status >= 400 || location === undefined) return { address, response }
      const next = redirectTarget(location, address)
      if (next === null) throw new GatewayError('provider_unavailable', 'The page redirects to something that is not an address')
      address = next.href
    }
    throw new GatewayError('provider_unavailable', 'The page redirects too often')
  }

  async #get(url: string, timeoutMs: number, maxBytes: number, signal: AbortSignal): Promise<EgressResponse> {
    try {
      return await this.#options.egress.request({
        method: 'GET',
        url,
        headers: { accept: ACCEPT, 'accept-encoding': 'gzip, br' },
        timeoutMs: Math.max(1, Math.floor(timeoutMs)),
        maxResponseBytes: maxBytes,
        signal,
      })
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      const type = error.kind === 'refused' ? 'permission_denied' : error.kind === 'timeout' ? 'timeout' : 'provider_unavailable'
      throw new GatewayError(type, `The ${this.#options.noun ?? 'page'} cannot be fetched: ${error.message}`, { cause: error })
    }
  }

  async #allowed(address: string, request: PageRequest): Promise<boolean> {
    const url = URL.parse(address)
    if (url === null) return true
    let known = this.#robots.get(url.origin)
    if (known === undefined || known.until < performance.now()) {
      const text = await this.#robotsOf(url.origin, request)
      // The lists belong to this caller: a refusal because of them must not be cached for others.
      if (text === REFUSED) return true
      // An aborted request has not learned anything either.
      if (request.signal.aborted) throw new GatewayError('server', 'The request was given up')
      known = { text, until: performance.now() + ROBOTS.ttlMs }
      const oldest = this.#robots.size >= ROBOTS.maxOrigins ? this.#robots.keys().next().value : undefined
      if (oldest !== undefined) this.#robots.delete(oldest)
      this.#robots.set(url.origin, known)
    }
    return known.text === undefined || robotsAllow(known.text, ROBOTS.agent, url.pathname + url.search)
  }

  /**
   * Undefined if there is none, if it cannot be fetched, or if it is behind too many redirects. A server error or a timeout must count as a refusal. After
   * a redirect to another site, its answer contains the rules for this one. `REFUSED` if the caller's lists forbid following the redirect.
   */
  async #robotsOf(origin: string, { refuse, signal }: PageRequest): Promise<string | typeof REFUSED | undefined> {
    const until = performance.now() + ROBOTS.timeoutMs
    let address: string | undefined = `${origin}/robots.txt`
    try {
      for (let hop = 0; hop <= MAX_HOPS && address !== undefined; hop++) {
        if (hop > 0 && refuse(address) !== undefined) return REFUSED
        const response = await this.#get(address, until - performance.now(), ROBOTS.maxBytes, signal)
        const { status } = response
        if (status >= 500) return NOBODY
        if (status < 300 || status >= 400) return status === 200 ? (await unpack(response, ROBOTS.maxBytes)).toString() : undefined
        address = redirectTarget(response.headers['location'] ?? '', address)?.href
      }
      return undefined
    } catch (error) {
      return error instanceof GatewayError && error.errorType === 'timeout' ? NOBODY : undefined
    }
  }

  async #read(url: string, response: EgressResponse, signal: AbortSignal): Promise<WebPage> {
    const { status } = response
    if (status < 200 || status >= 300) {
      const type = status >= 500 || status === 408 || status === 429 ? 'provider_unavailable' : 'not_found'
      throw new GatewayError(type, `The page answers with status ${status}`, { upstreamStatus: status })
    }
    const type = (response.headers['content-type'] ?? '').toLowerCase()
    const bytes = await unpack(response, this.#options.maxBytes ?? MAX_BYTES)
    const kind = kindOf(type, bytes)
    if (kind === undefined)
      throw new GatewayError('unprocessable', `The page is of type ${type.split(';')[0]?.slice(0, 60)}, which cannot be read as text`)
    const charset = charsetIn(type)
    if (kind === 'text') return { url, status, text: decodeText(bytes, charset) }
    const { text, title } = await this.#parser.parse({ bytes, kind, charset }, signal)
    return { url, status, text, ...(title === undefined ? {} : { title }) }
  }
}

/** Words that name no packing are ignored, as browsers do: servers and stores of files write their charset there, `none`, or how a file was uploaded. */
async function unpack(response: EgressResponse, maxBytes: number): Promise<Buffer> {
  const encodings = (response.headers['content-encoding'] ?? '').toLowerCase().split(',')
  const packings = encodings.map((each) => each.trim()).filter((each) => unpackers.has(each) || FOREIGN_PACKINGS.has(each))
  if (packings.length === 0 || response.body.length === 0) return response.body
  if (packings.length > MAX_PACKINGS || response.truncated || packings.some((each) => FOREIGN_PACKINGS.has(each)))
    throw new GatewayError('unprocessable', 'The page is packed in a way that cannot be read, or too large')
  try {
    let bytes = response.body
    for (const packing of packings.toReversed()) bytes = await unpackers.get(packing)!(bytes, { maxOutputLength: maxBytes })
    return bytes
  } catch (error) {
    throw new GatewayError('unprocessable', 'The page is damaged, or too large when unpacked', { cause: error })
  }
}

const charsetIn = (type: string): string | undefined => /charset=["']?([\w:.-]{1,40})/.exec(type)?.[1]

function kindOf(type: string, bytes: Buffer): 'html' | 'pdf' | 'text' | undefined {
  if (type.includes('pdf') || bytes.subarray(0, 5).toString('latin1') === '%PDF-') return 'pdf'
  if (type.includes('html')) return 'html'
  if (type.startsWith('text/') || /[/+](?:json|xml|yaml|javascript|x-ndjson)/.test(type)) return 'text'
  if (/^(?:image|audio|video|font)\//.test(type)) return undefined
  // Servers know few types of sources and settings: scripts, TOML and Markdown come as some application, as octet-stream, or as a type of the server's own.
  if (!/^\s*(?:;|$)/.test(type)) return sniffMediaType(bytes.subarray(0, endOfLetters(bytes))) === 'text/plain' ? 'text' : undefined
  // A byte order mark counts as white space.
  return /^\s*</.test(bytes.subarray(0, 200).toString()) ? 'html' : 'text'
}

import { createCheckedConnector, type CheckedConnectorOptions } from './checked-connector.ts'
import { checkHeaders, checkUrl, EgressError, hostOf, type BegunAnswer, type EgressPolicy } from './egress-policy.ts'
import { whenLate } from './late.ts'
import { isOfProxy } from './tunnel.ts'
import { Agent, requestThrough } from './undici.ts'

export { EgressError } from './egress-policy.ts'

export interface EgressOptions extends CheckedConnectorOptions {
  /** Whether private ranges may be reached. Metadata and link-local addresses never may. */
  readonly allowPrivate: boolean
  /** Whether unencrypted HTTP to public addresses is allowed; default false. To private ones it always is. */
  readonly allowHttp?: boolean
  readonly extraPorts?: readonly number[]
  readonly userAgent?: string
  readonly connectionsPerOrigin?: number
}

export interface EgressRequest {
  readonly method: string
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string | Buffer
  /** Milliseconds from start to the last byte of the answer; default 30,000. */
  readonly timeoutMs?: number
  /** Most bytes of the answer to read; the rest is discarded. Default 4 MiB. */
  readonly maxResponseBytes?: number
  readonly signal?: AbortSignal
}

export interface EgressResponse {
  readonly status: number
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: { readonly [name: string]: string }
  readonly body: Buffer
  /** The answer was longer than `maxResponseBytes`. */
  readonly truncated: boolean
}

export interface EgressStreamRequest extends Pick<EgressRequest, 'method' | 'url' | 'headers' | 'body' | 'signal'> {
  /** Limit for the headers of the answer, in milliseconds; default 30,000. */
  readonly headersTimeoutMs?: number
  /** Most bytes of the answer; reading fails beyond. Default 4 MiB. */
  readonly maxResponseBytes?: number
}

export interface EgressStream {
  readonly status: number
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: { readonly [name: string]: string }
  /** The body as it arrives; throws EgressError. It must be read to its end or left (by leaving the loop), because it occupies a connection until then. */
  readonly body: AsyncIterable<Buffer>
}

export interface Egress {
  /**
   * Sends one request and reads its answer, whatever the status. A redirect is an answer like any other and never followed. Rejects with EgressError if
   * there is no answer.
   */
  request(request: EgressRequest): Promise<EgressResponse>
  /** The same for answers that are read as they arrive. `signal` ends them in every phase. */
  open(request: EgressStreamRequest): Promise<EgressStream>
  /** Closes all connections at once. */
  close(): Promise<void>
}

/**
 * All requests to addresses that users choose go through this. A name is resolved once per connection, all its addresses are checked, and the connection
 * uses one of them. The address checked is the address used, so a name whose addresses change gains nothing.
 */
export function createEgress(options: EgressOptions): Egress {
  const policy: EgressPolicy = { allowPrivate: options.allowPrivate, allowHttp: options.allowHttp ?? false, extraPorts: options.extraPorts ?? [] }
  const agent = new Agent({
    connect: createCheckedConnector(options, policy),
    connections: options.connectionsPerOrigin ?? 16,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    // The caller limits the whole exchange; these limits would end slow answers earlier.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const userAgent = options.userAgent ?? 'signalbox'

  return {
    async request({ method, url: text, headers = {}, body, timeoutMs = 30_000, maxResponseBytes = 4 * 1024 * 1024, signal }) {
      const url = checkUrl(text, policy)
      const { limit, end } = startLimit(timeoutMs)
      const cancel = signal === undefined ? limit : AbortSignal.any([signal, limit])
      let begun: BegunAnswer | undefined
      try {
        const response = await requestThrough(agent, {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          headers: { 'user-agent': userAgent, ...checkHeaders(headers) },
          ...(body === undefined ? {} : { body }),
          signal: cancel,
        })
        begun = { status: response.statusCode, headers: flatten(response.headers) }
        const { bytes, truncated } = await readBody(response.body, maxResponseBytes)
        return { ...begun, body: bytes, truncated }
      } catch (error) {
        throw toEgressError(error, hostOf(url), limit, signal, begun)
      } finally {
        end()
      }
    },
    async open({ method, url: text, headers = {}, body, headersTimeoutMs = 30_000, maxResponseBytes = 4 * 1024 * 1024, signal }) {
      const url = checkUrl(text, policy)
      const host = hostOf(url)
      const { limit, end } = startLimit(headersTimeoutMs)
      try {
        const response = await requestThrough(agent, {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          headers: { 'user-agent': userAgent, ...checkHeaders(headers) },
          ...(body === undefined ? {} : { body }),
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        })
        const broken = (error: unknown): EgressError => toEgressError(error, host, limit, signal)
        return {
          status: response.statusCode,
          headers: flatten(response.headers),
          body: bounded(response.body, maxResponseBytes, host, broken),
        }
      } catch (error) {
        throw toEgressError(error, host, limit, signal)
      } finally {
        end()
      }
    },
    close: () => agent.destroy(),
  }
}

/** A delivery that was answered in time would be sent again, and an answer that has begun be given up, if the limit did not wait for what has arrived. */
function startLimit(ms: number): { readonly limit: AbortSignal; readonly end: () => void } {
  const controller = new AbortController()
  return { limit: controller.signal, end: whenLate(ms, () => controller.abort()) }
}

async function* bounded(body: AsyncIterable<Buffer>, limit: number, host: string, broken: (error: unknown) => EgressError): AsyncGenerator<Buffer> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > limit) throw new EgressError('network', `${host} sent more than ${limit} bytes`)
      yield chunk
    }
  } catch (error) {
    throw broken(error)
  }
}

async function readBody(body: AsyncIterable<Buffer>, limit: number): Promise<{ readonly bytes: Buffer; readonly truncated: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (size + chunk.length > limit) {
      chunks.push(chunk.subarray(0, limit - size))
      // Leaving the loop discards the rest of the answer and closes its connection.
      return { bytes: Buffer.concat(chunks), truncated: true }
    }
    chunks.push(chunk)
    size += chunk.length
  }
  return { bytes: Buffer.concat(chunks, size), truncated: false }
}

function flatten(headers: { readonly [name: string]: string | string[] | undefined }): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  return flat
}

const CONNECT_CODES = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'UND_ERR_CONNECT_TIMEOUT'])

/** `begun`: an answer that has begun. */
function toEgressError(error: unknown, host: string, limit: AbortSignal, signal: AbortSignal | undefined, begun?: BegunAnswer): EgressError {
  const found = findEgressError(error)
  if (found !== undefined) return found
  if (signal?.aborted) return new EgressError('aborted', 'the request was given up', error, begun)
  if (limit.aborted) return new EgressError('timeout', `${host} did not answer in time`, error, begun)
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error instanceof Error && isOfProxy(error))
    return new EgressError('connect', `${host} cannot be reached through the proxy (${code})`, error, begun)
  if (CONNECT_CODES.has(code)) return new EgressError('connect', `${host} cannot be reached (${code})`, error, begun)
  if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SELF_SIGNED'))
    return new EgressError('connect', `no trusted TLS connection to ${host} (${code})`, error)
  if (error instanceof Error && error.name === 'HTTPParserError') return new EgressError('network', `${host} did not answer in HTTP`, error, begun)
  return new EgressError('network', `the connection to ${host} broke${code === '' ? '' : ` (${code})`}`, error, begun)
}

/** Finds our own error, which sockets wrap as a cause or as one of the errors of several attempted addresses. */
function findEgressError(error: unknown, depth = 0): EgressError | undefined {
  if (error instanceof EgressError) return error
  if (depth > 3 || !(error instanceof Error)) return undefined
  const inner: unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  return inner.map((each) => findEgressError(each, depth + 1)).find((each) => each !== undefined)
}

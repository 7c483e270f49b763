import type * as Sdk from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/item.ts'
import { EgressError, type Egress } from '../../lib/egress.ts'
import { createEgressFetch, within } from './egress-fetch.ts'
import { failureOf, isGone, mayBeOldEra, mayBeOldTransport, saysWhy } from './failure.ts'
import { readLeniently } from './lenient-transport.ts'
import type { RemoteResult } from './result.ts'
import { newWalk, walking, type ListWalk, type ToolList } from './tool-list.ts'

export interface McpAddress {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
}

export interface McpConnectionOptions {
  readonly egress: Egress
  /** The version that we report to servers. */
  readonly version: string
  /** See `EgressFetchOptions`. */
  readonly maxStandingBytes?: number
  /** How long the first request of the newer protocol may take before the older one is tried, in milliseconds; default: 6,000. */
  readonly probeMs?: number
}

/** The longest time for a request whose caller has no limit of its own. */
const REQUEST_MS = 15 * 60_000
const CLOSE_MS = 2_000
/** Most servers without the newer protocol refuse its first request, some never answer it. This leaves both protocols a part of the time to connect. */
const PROBE_MS = 6_000

/** The SDK is loaded with the first server that a request names. */
const loadSdk = (): Promise<typeof Sdk> => import('@modelcontextprotocol/client')

/** A session of one caller with one server. Several requests may be in progress at once. */
export class McpConnection {
  readonly #client: Sdk.Client
  readonly #transport: Sdk.Transport & { terminateSession?: () => Promise<void> }
  #broken = false
  #worn = false
  /** Of the last list that was requested: the SDK may answer from its cache without a request. */
  #walk: ListWalk = newWalk()

  private constructor(client: Sdk.Client, transport: Sdk.Transport) {
    this.#client = client
    this.#transport = transport
  }

  /**
   * Connects in whichever way the server understands: streamable HTTP of either era of the protocol, or else the older transport with two addresses.
   * Rejects with the McpFailure of the first attempt, unless the server has begun to speak in the older transport and the first attempt told nothing.
   */
  static async open(address: McpAddress, options: McpConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
    const sdk = await loadSdk()
    try {
      return await connect(sdk, 'streamable', address, options, signal)
    } catch (error) {
      const next = mayBeOldTransport(error) ? 'sse' : mayBeOldEra(error) ? 'streamable-legacy' : undefined
      if (signal.aborted || next === undefined) throw error
      let began = false
      const onStanding = (): void => void (began = true)
      return await connect(sdk, next, address, { ...options, onStanding }, signal).catch((second) =>
        Promise.reject((began && !saysWhy(error) ? second : error) as Error),
      )
    }
  }

  static made(client: Sdk.Client, transport: Sdk.Transport): McpConnection {
    return new McpConnection(client, transport)
  }

  /** True if no more requests should be made on this connection. */
  get broken(): boolean {
    return this.#broken || this.#worn
  }

  /** The stream that carries all answers nears its bound: requests in progress continue. */
  wearOut(): void {
    this.#worn = true
  }

  /** All usable tools of the server, from all pages. */
  async listTools(signal: AbortSignal): Promise<ToolList> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return { tools: [], leftOut: [], endless: false }
    const walk = newWalk()
    const { tools } = await walking(walk, () => this.#exchange(signal, (options) => this.#client.listTools(undefined, options)))
    if (walk.pages > 0) this.#walk = walk
    const { leftOut, endless } = this.#walk
    return {
      leftOut,
      endless,
      tools: tools.map(({ name, description, inputSchema, annotations }) => ({
        name,
        inputSchema: inputSchema as JsonObject,
        ...(description === undefined ? {} : { description }),
        ...(annotations === undefined ? {} : { annotations }),
      })),
    }
  }

  /** Aborting tells the server that the answer is no longer wanted. */
  async callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<RemoteResult> {
    const result = await this.#exchange(signal, (options) => this.#client.callTool({ name, arguments: { ...args } }, options))
    return {
      content: result.content,
      isError: result.isError === true,
      ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
    }
  }

  /** Ends the session at the server, if it has one, and every request in progress. */
  async close(): Promise<void> {
    this.#broken = true
    const ending = within({ signal: AbortSignal.timeout(CLOSE_MS), lost: () => undefined }, async () => this.#transport.terminateSession?.())
    await ending.catch(() => undefined)
    await this.#client.close().catch(() => undefined)
  }

  /** The stream that carries all answers is gone: pending requests fail. */
  breakOff(): void {
    if (this.#broken) return
    this.#broken = true
    void this.#client.close().catch(() => undefined)
  }

  async #exchange<T>(signal: AbortSignal, work: (options: { signal: AbortSignal; timeout: number }) => Promise<T>): Promise<T> {
    try {
      return await exchange(signal, () => work({ signal, timeout: REQUEST_MS }))
    } catch (error) {
      if (isGone(error)) this.#broken = true
      throw failureOf(error)
    }
  }
}

/** Work whose answer may be lost: in that case it fails at once. */
async function exchange<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => undefined)
  const answer = within({ signal, lost: (error) => lost.reject(error) }, work)
  answer.catch(() => undefined)
  return Promise.race([answer, lost.promise])
}

type Way = 'streamable' | 'streamable-legacy' | 'sse'

async function connect(
  sdk: typeof Sdk,
  transportType: Way,
  address: McpAddress,
  { egress, version, maxStandingBytes, probeMs = PROBE_MS, onStanding }: McpConnectionOptions & { readonly onStanding?: () => void },
  signal: AbortSignal,
): Promise<McpConnection> {
  const target = new URL(address.url)
  const standing = transportType === 'sse'
  const fetch = createEgressFetch({ egress, origin: target.origin, standing, maxStandingBytes, onStanding, onWorn: () => connection.wearOut() })
  const options = { fetch, requestInit: { headers: { ...address.headers } } }
  const transport = standing ? new sdk.SSEClientTransport(target, options) : new sdk.StreamableHTTPClientTransport(target, options)
  readLeniently(transport)
  const client = new sdk.Client(
    { name: 'signalbox', version },
    {
      capabilities: {},
      versionNegotiation: { mode: transportType === 'streamable' ? 'auto' : 'legacy', probe: { timeoutMs: probeMs } },
      // Schemas of third parties are passed on and never run here.
      jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
      inputRequired: { autoFulfill: false },
      // Pages are counted where they are read.
      listMaxPages: 0,
    },
  )
  const connection = McpConnection.made(client, transport)
  const start = (): Promise<void> => client.connect(transport, { signal, timeout: REQUEST_MS })
  try {
    // The standing stream outlives the request that opened it.
    await untilAborted(standing ? start() : exchange(signal, start), signal)
  } catch (error) {
    void client.close().catch(() => undefined)
    throw failureOf(error)
  }
  if (standing) {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only this
    client.onerror = (error) => {
      if (error instanceof sdk.SseError) connection.breakOff()
    }
  }
  return connection
}

/** While connecting to the older transport, the SDK ignores the signal until the stream has named the address for requests. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(new EgressError('timeout', 'the server did not answer in time', signal.reason))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  work.catch(() => undefined)
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort))
}

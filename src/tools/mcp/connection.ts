import type * as Sdk from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/item.ts'
import { EgressError, type Egress } from '../../lib/egress.ts'
import { createEgressFetch, within } from './egress-fetch.ts'
import { failureOf, isGone, mayBeOldEra, mayBeOldTransport } from './failure.ts'
import { readLeniently } from './lenient-transport.ts'
import type { RemoteResult } from './result.ts'
import { newWalk, walking, type ListWalk, type ToolList } from './tool-list.ts'

export interface McpAddress {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
}

export interface McpConnectionOptions {
  readonly egress: Egress
  /** How we introduce ourselves. */
  readonly version: string
  /** See `EgressFetchOptions`. */
  readonly maxStandingBytes?: number
}

/** Longest a request may take when its caller has no limit of its own. */
const REQUEST_MS = 15 * 60_000
const CLOSE_MS = 2_000

/** The SDK is loaded with the first server anyone names. */
const loadSdk = (): Promise<typeof Sdk> => import('@modelcontextprotocol/client')

/** A session with one server, of one caller. Several requests may be under way at once. */
export class McpConnection {
  readonly #client: Sdk.Client
  readonly #transport: Sdk.Transport & { terminateSession?: () => Promise<void> }
  #broken = false
  #worn = false
  /** Of the last list that was asked for: the SDK may give the same again without asking. */
  #walk: ListWalk = newWalk()

  private constructor(client: Sdk.Client, transport: Sdk.Transport) {
    this.#client = client
    this.#transport = transport
  }

  /**
   * Connects by whichever way the server understands: streamable HTTP of either era of the protocol, else the older transport of two
   * addresses. Rejects with McpFailure: what the first way said.
   */
  static async open(address: McpAddress, options: McpConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
    const sdk = await loadSdk()
    try {
      return await connect(sdk, 'streamable', address, options, signal)
    } catch (error) {
      const next = mayBeOldTransport(error) ? 'sse' : mayBeOldEra(error) ? 'streamable-legacy' : undefined
      if (signal.aborted || next === undefined) throw error
      return await connect(sdk, next, address, options, signal).catch(() => Promise.reject(error as Error))
    }
  }

  static made(client: Sdk.Client, transport: Sdk.Transport): McpConnection {
    return new McpConnection(client, transport)
  }

  /** True when nothing more should be asked here. */
  get broken(): boolean {
    return this.#broken || this.#worn
  }

  /** The stream everything comes on nears its bound: what is under way goes on. */
  wearOut(): void {
    this.#worn = true
  }

  /** All tools of the server that can be used, page by page. */
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

  /** Aborting tells the server that the answer is not wanted any more. */
  async callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<RemoteResult> {
    const result = await this.#exchange(signal, (options) => this.#client.callTool({ name, arguments: { ...args } }, options))
    return {
      content: result.content,
      isError: result.isError === true,
      ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
    }
  }

  /** Ends the session at the server, if it has one, and every request under way. */
  async close(): Promise<void> {
    this.#broken = true
    const ending = within({ signal: AbortSignal.timeout(CLOSE_MS), lost: () => undefined }, async () => this.#transport.terminateSession?.())
    await ending.catch(() => undefined)
    await this.#client.close().catch(() => undefined)
  }

  /** The stream everything comes on is gone: whoever waits is told. */
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

/** Work whose answer may be lost on the way: it is then given up at once. */
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
  way: Way,
  address: McpAddress,
  { egress, version, maxStandingBytes }: McpConnectionOptions,
  signal: AbortSignal,
): Promise<McpConnection> {
  const target = new URL(address.url)
  const standing = way === 'sse'
  const fetch = createEgressFetch({ egress, origin: target.origin, standing, maxStandingBytes, onWorn: () => connection.wearOut() })
  const options = { fetch, requestInit: { headers: { ...address.headers } } }
  const transport = standing ? new sdk.SSEClientTransport(target, options) : new sdk.StreamableHTTPClientTransport(target, options)
  readLeniently(transport)
  const client = new sdk.Client(
    { name: 'signalbox', version },
    {
      capabilities: {},
      versionNegotiation: { mode: way === 'streamable' ? 'auto' : 'legacy' },
      // Schemas of strangers are handed on, never run here.
      jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
      inputRequired: { autoFulfill: false },
      // Pages are counted where they are read.
      listMaxPages: 0,
    },
  )
  const connection = McpConnection.made(client, transport)
  const start = (): Promise<void> => client.connect(transport, { signal, timeout: REQUEST_MS })
  try {
    // The standing stream outlives what it was opened for.
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

/** The SDK's connecting to the older transport does not listen to a signal before its stream has told where to write to. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(new EgressError('timeout', 'the server did not answer in time', signal.reason))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  work.catch(() => undefined)
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort))
}

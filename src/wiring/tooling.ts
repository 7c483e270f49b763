import { isDeepStrictEqual } from 'node:util'
import { proxiesOf } from '../config/proxies.ts'
import type { Config } from '../core/config.ts'
import type { Catalog } from '../core/endpoint.ts'
import type { ServerTool } from '../core/extension.ts'
import type { ToolSource } from '../core/tool-source.ts'
import { systemClock } from '../lib/clock.ts'
import type { LoopLimits } from '../pipeline/tool-stop.ts'
import { createTools, createToolSources, type OpenToolSource } from '../tools/index.ts'
import { VERSION } from '../version.ts'
import { EgressClients } from './egress-clients.ts'

export interface Tooling {
  readonly tools: () => readonly ServerTool[]
  /** Changes only together with `tools`; a reload that does not concern them leaves them, with their sessions. */
  readonly toolSources: () => readonly ToolSource[]
  readonly toolLimits: () => LoopLimits
  /** Builds the tools of another configuration; calls in flight keep the old ones. */
  reload(config: Config): void
  close(): Promise<void>
}

export interface ToolingOptions {
  readonly config: Config
  readonly env: { readonly [name: string]: string | undefined }
  readonly catalog: () => Catalog
}

/** Each session with an MCP server keeps a connection of its own. */
const CONNECTIONS_TO_SERVERS = 256

/** The tools that the gateway runs itself, with their connections to the outside. */
export function openTooling(options: ToolingOptions): Tooling {
  const { env, catalog } = options
  const userAgent = `signalbox/${VERSION}`
  const proxies = proxiesOf(env)
  const plain = new EgressClients({ allowHttp: true, userAgent, proxies })
  // For requests with credentials of callers: never unencrypted over the public network.
  const secure = new EgressClients({ userAgent, connectionsPerOrigin: CONNECTIONS_TO_SERVERS, proxies })
  const buildTools = ({ tools, network }: Config): readonly ServerTool[] =>
    createTools({ config: tools, env, catalog, egress: plain.get(network.allowPrivate.tools), operatorEgress: plain.get(true) })
  const buildSources = ({ tools, network }: Config): readonly OpenToolSource[] =>
    createToolSources({ config: tools, egress: secure.get(network.allowPrivate.tools), clock: systemClock, version: VERSION })
  let config = options.config
  let tools = buildTools(config)
  let sources = buildSources(config)
  return {
    tools: () => tools,
    toolSources: () => sources,
    toolLimits: () => config.tools.limits,
    reload(next) {
      const previous = config
      config = next
      tools = buildTools(next)
      if (areServedAlike(previous, next)) return
      const before = sources
      sources = buildSources(next)
      for (const source of before) void source.close()
    },
    async close() {
      await Promise.all(sources.map((source) => source.close()))
      await Promise.all([plain.close(), secure.close()])
    },
  }
}

/**
 * Whether sources built for one configuration serve the other. They hold the sessions in which servers keep what a loop has done so far, so a reload
 * that does not concern them must not end these.
 */
const areServedAlike = (a: Config, b: Config): boolean =>
  a.network.allowPrivate.tools === b.network.allowPrivate.tools && isDeepStrictEqual(a.tools.mcp, b.tools.mcp)

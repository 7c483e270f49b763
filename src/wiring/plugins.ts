import { explainChoice, type ChoiceScene, type ExplainedChoice } from './choosing.ts'
import { proxiesOf } from '../config/proxies.ts'
import type { Config } from '../core/config.ts'
import type { Adaptation } from '../core/call.ts'
import { ConfigError } from '../core/config-error.ts'
import type { Catalog } from '../core/endpoint.ts'
import { isGatewayError } from '../core/error.ts'
import type { Plugin, PluginEntry } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { checkEngines } from './check-engines.ts'
import { createPluginRegistry, type PluginRegistry } from '../pipeline/plugin-select.ts'
import { reachFor } from '../pipeline/plugins.ts'
import { createPlugins } from '../plugins/index.ts'
import { estimateRequest } from '../router/estimate.ts'
import { searchEngines } from '../tools/search-engines/index.ts'
import { readyEngines } from '../tools/shared/dependencies.ts'
import { PageFetcher } from '../tools/shared/page-fetcher.ts'
import { DocumentParser } from '../tools/shared/parse-document.ts'
import { createWebSearchAccess } from '../tools/shared/web-access.ts'
import { VERSION } from '../version.ts'
import { EgressClients } from './egress-clients.ts'

export interface Plugins {
  readonly plugins: () => readonly Plugin[]
  readonly pluginDefaults: () => readonly PluginEntry[]
  /** How they can adapt a request to endpoints that do not take it as it is; for explanations. */
  readonly reach: (request: ModelRequest) => Pick<Adaptation, 'modalities' | 'shortensUpTo'>
  /** Which models they would choose; for explanations. Calls nobody. */
  readonly choose: (request: ModelRequest, scene: ChoiceScene) => Promise<ExplainedChoice>
  /** Builds the plugins of another configuration; calls in flight keep the old ones. Throws ConfigError and keeps the old ones. */
  reload(config: Config): void
  close(): Promise<void>
}

export interface PluginsOptions {
  readonly config: Config
  readonly env: { readonly [name: string]: string | undefined }
  readonly catalog: () => Catalog
}

interface BuiltPlugins {
  readonly plugins: readonly Plugin[]
  readonly defaults: readonly PluginEntry[]
  readonly registry: PluginRegistry
}

/** Of a file that is given by its address. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

/**
 * The plugins, with what they need of other rooms and their connections to the outside. Throws ConfigError for defaults they refuse and for engines
 * that do not exist.
 */
export function openPlugins(options: PluginsOptions): Plugins {
  const { env, catalog } = options
  const clients = new EgressClients({ allowHttp: true, userAgent: `signalbox/${VERSION}`, proxies: proxiesOf(env) })
  const parser = new DocumentParser()
  const build = (config: Config): BuiltPlugins => {
    checkEngines(config, env)
    const { allowPrivate } = config.network
    const operatorEgress = clients.get(true)
    const plugins = createPlugins({
      config: config.plugins,
      env,
      catalog,
      operatorEgress,
      reader: { read: (bytes, kind, signal, charset) => parser.parse({ bytes, kind, charset }, signal) },
      files: new PageFetcher({ egress: clients.get(allowPrivate.media), parser, obeyRobots: false, maxBytes: MAX_FILE_BYTES, noun: 'file' }),
      tokensOf: (request) => estimateRequest(request).inputTokens,
      fusionModels: config.tools.fusionModels,
      search: createWebSearchAccess(readyEngines(searchEngines, { config: config.tools, env }), operatorEgress),
      pages: new PageFetcher({ egress: clients.get(allowPrivate.tools), parser, obeyRobots: config.tools.webFetch.robots }),
    })
    return { plugins, defaults: config.defaults.plugins, registry: buildRegistry(plugins, config) }
  }
  let current = build(options.config)
  return {
    plugins: () => current.plugins,
    pluginDefaults: () => current.defaults,
    reach: (request) => reachFor(request, current.registry),
    choose: (request, scene) => explainChoice(request, scene, current.registry, catalog()),
    reload(config) {
      current = build(config)
    },
    close: () => clients.close(),
  }
}

function buildRegistry(plugins: readonly Plugin[], { defaults, file }: Config): PluginRegistry {
  try {
    return createPluginRegistry(plugins, defaults.plugins)
  } catch (error) {
    if (!isGatewayError(error)) throw error
    const path = error.details.path ?? 'defaults.plugins'
    throw new ConfigError([{ path, message: error.message.replace(`${path}: `, '') }], file)
  }
}

import type { SearchEngineConfig, ToolsConfig } from '../../core/config.ts'
import type { Catalog } from '../../core/endpoint.ts'
import { Secret } from '../../lib/secret.ts'
import type { Egress } from '../../lib/egress.ts'
import type { SearchEngine } from './search-engine.ts'

/** The dependencies of all tools. */
export interface ToolDependencies {
  readonly config: ToolsConfig
  readonly env: { readonly [name: string]: string | undefined }
  readonly catalog: () => Catalog
  /** The egress for addresses that models and pages choose. */
  readonly egress: Egress
  /** The egress for addresses that the operator chose: search servers and sandboxes may be in a private network. */
  readonly operatorEgress: Egress
}

/** A fully configured engine. */
export interface ReadyEngine {
  readonly engine: SearchEngine
  readonly baseUrl: string
  readonly headers: { readonly [name: string]: string }
  /** The operator's price per search, in USD. */
  readonly price?: number
}

/** The fully configured engines in order of preference; the operator's choice comes first. */
export function readyEngines(engines: readonly SearchEngine[], { config, env }: Pick<ToolDependencies, 'config' | 'env'>): readonly ReadyEngine[] {
  const { webSearch } = config
  const ready = engines.flatMap((engine) => prepare(engine, webSearch.engines[engine.name] ?? {}, env))
  return ready.toSorted((a, b) => Number(b.engine.name === webSearch.engine) - Number(a.engine.name === webSearch.engine))
}

/** What an engine lacks: the setting, and the environment variables that replace it. Undefined if it is fully configured. */
export function lackOf(
  engine: SearchEngine,
  config: SearchEngineConfig,
  env: ToolDependencies['env'],
): { readonly setting: 'api_key' | 'base_url'; readonly variables: readonly string[] } | undefined {
  const { apiKey: keyVariables, baseUrl: urlVariables = [] } = engine.env
  if ((config.baseUrl ?? first(env, urlVariables) ?? engine.baseUrl) === undefined) return { setting: 'base_url', variables: urlVariables }
  if (keyVariables !== undefined && config.apiKey === undefined && first(env, keyVariables) === undefined)
    return { setting: 'api_key', variables: keyVariables }
  return undefined
}

function prepare(engine: SearchEngine, config: SearchEngineConfig, env: ToolDependencies['env']): ReadyEngine[] {
  const key = config.apiKey ?? secretFrom(env, engine.env.apiKey)
  const baseUrl = config.baseUrl ?? first(env, engine.env.baseUrl)?.replace(/\/+$/, '') ?? engine.baseUrl
  if (baseUrl === undefined || lackOf(engine, config, env) !== undefined) return []
  const headers = key === undefined || engine.authorize === undefined ? {} : engine.authorize(key)
  return [{ engine, baseUrl, headers, ...(config.price === undefined ? {} : { price: config.price }) }]
}

function first(env: ToolDependencies['env'], names: readonly string[] | undefined): string | undefined {
  return names?.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '')
}

function secretFrom(env: ToolDependencies['env'], names: readonly string[] | undefined): Secret | undefined {
  const value = first(env, names)
  return value === undefined ? undefined : new Secret(value)
}

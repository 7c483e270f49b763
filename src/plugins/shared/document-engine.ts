import type { DocumentEngineConfig } from '../../core/plugins-config.ts'
import { isGatewayError } from '../../core/error.ts'
import type { Egress } from '../../lib/egress.ts'
import { Secret } from '../../lib/secret.ts'
import { askService, OF_THE_CONTENT } from './ask-service.ts'

export interface ReadFile {
  readonly name: string
  readonly bytes: Uint8Array
}

export interface ReadResult {
  readonly text: string
  readonly pages?: number
  /** Data URLs, in the order of the document. */
  readonly images: readonly string[]
}

export interface EngineRequest {
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Buffer
}

/** One service that reads documents: data and two translations, one file each. */
export interface DocumentEngine {
  readonly name: string
  /** Environment variables with its key and, if its address contains one, its account. */
  readonly env: { readonly apiKey: readonly string[]; readonly account?: readonly string[] }
  readonly baseUrl: string
  /** List price per page, in USD. */
  readonly price: number
  /** True if the gateway's own reader may replace it, because it reads the same text. */
  readonly replaceable?: boolean
  request(file: ReadFile, account: string): EngineRequest
  /** Undefined if it could not read the file. */
  read(body: unknown): ReadResult | undefined
}

/** A fully configured engine. */
export interface ReadyDocumentEngine {
  readonly engine: DocumentEngine
  readonly price: number
  /** Throws GatewayError. */
  readonly read: (file: ReadFile, signal: AbortSignal, now: number) => Promise<ReadResult | undefined>
}

const TIMEOUT_MS = 120_000
const MAX_BYTES = 64 * 1024 * 1024

type Env = { readonly [name: string]: string | undefined }

/** What an engine lacks: the setting, and the environment variables that replace it. Undefined if it is fully configured. */
export function lackOf(
  engine: DocumentEngine,
  config: DocumentEngineConfig,
  env: Env,
): { readonly setting: 'api_key' | 'account'; readonly variables: readonly string[] } | undefined {
  const { apiKey: keyVariables, account: accountVariables } = engine.env
  if (config.apiKey === undefined && first(env, keyVariables) === undefined) return { setting: 'api_key', variables: keyVariables }
  if (accountVariables !== undefined && (config.account ?? first(env, accountVariables)) === undefined)
    return { setting: 'account', variables: accountVariables }
  return undefined
}

/** The engine with its key and address; undefined if one is missing. */
export function prepareEngine(
  engine: DocumentEngine,
  config: DocumentEngineConfig,
  env: Env,
  egress: Pick<Egress, 'request'>,
): ReadyDocumentEngine | undefined {
  const key = config.apiKey ?? secretFrom(env, engine.env.apiKey)
  const account = config.account ?? first(env, engine.env.account) ?? ''
  if (key === undefined || lackOf(engine, config, env) !== undefined) return undefined
  const baseUrl = config.baseUrl?.replace(/\/+$/, '') ?? engine.baseUrl
  return {
    engine,
    price: config.price ?? engine.price,
    read: async (file, signal, now) => {
      const { path, headers, body } = engine.request(file, account)
      const call = { name: engine.name, url: baseUrl + path, key, headers, body, egress, signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, now }
      try {
        return engine.read(await askService(call))
      } catch (error) {
        if (isGatewayError(error) && OF_THE_CONTENT.has(error.details.upstreamStatus ?? 0)) return undefined
        throw error
      }
    },
  }
}

function first(env: Env, names: readonly string[] | undefined): string | undefined {
  return names?.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '')
}

function secretFrom(env: Env, names: readonly string[]): Secret | undefined {
  const value = first(env, names)
  return value === undefined ? undefined : new Secret(value)
}

import type { Secret } from '../lib/secret.ts'

/** What the operator gives to plugins: services and keys, which no request can name. */
export interface PluginsConfig {
  readonly fileParser: {
    /** The engine that reads PDF files for endpoints that cannot, unless the request names one. */
    readonly engine: string
    readonly engines: { readonly [name: string]: DocumentEngineConfig }
  }
  readonly moderation: ModerationConfig
  /** How good models are at code, 0 to 1, by slug: what `pareto-router` goes by. */
  readonly codingScores: { readonly [model: string]: number }
}

export interface DocumentEngineConfig {
  readonly apiKey?: Secret
  readonly baseUrl?: string
  /** Of services whose address holds one. */
  readonly account?: string
  /** USD per page, over the engine's list price. */
  readonly price?: number
}

export interface ModerationConfig {
  /** A model of the catalog that judges. */
  readonly model?: string
  /** A server that speaks the usual moderation API. */
  readonly endpoint?: { readonly url: string; readonly apiKey?: Secret; readonly model?: string }
  /** What happens to calls while the moderation service is not available. */
  readonly whenUnavailable: 'refuse' | 'allow'
}

import type { Secret } from '../lib/secret.ts'

/** Operator settings for plugins: services and keys that no request can name. */
export interface PluginsConfig {
  readonly fileParser: {
    /** The engine that reads PDF files for endpoints that cannot, unless the request names another. */
    readonly engine: string
    readonly engines: { readonly [name: string]: DocumentEngineConfig }
  }
  readonly moderation: ModerationConfig
  /** Coding skill of models, 0 to 1, by slug; used by `pareto-router`. */
  readonly codingScores: { readonly [model: string]: number }
}

export interface DocumentEngineConfig {
  readonly apiKey?: Secret
  readonly baseUrl?: string
  /** For services whose address contains an account. */
  readonly account?: string
  /** USD per page; overrides the engine's list price. */
  readonly price?: number
}

export interface ModerationConfig {
  /** A model of the catalog that classifies the content. */
  readonly model?: string
  /** A server with the usual moderation API. */
  readonly endpoint?: { readonly url: string; readonly apiKey?: Secret; readonly model?: string }
  /** What happens to calls while the moderation service is unavailable. */
  readonly whenUnavailable: 'refuse' | 'allow'
}

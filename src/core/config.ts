import type { Secret } from '../lib/secret.ts'
import type { StreamFailure } from './call.ts'
import type { EndpointPolicies, Modality, Parameter } from './capability.ts'
import type { RateLimits } from './endpoint.ts'
import type { ConfiguredGuardrail } from './guardrail.ts'
import type { JsonObject } from './item.ts'
import type { PluginsConfig } from './plugins-config.ts'
import type { Pricing } from './pricing.ts'
import type { Timeouts } from './provider.ts'

/**
 * The configuration after parsing: `signalbox.yaml`, environment and command line merged, defaults filled in, units converted. Durations are in
 * milliseconds, sizes in bytes. Immutable: a reload creates a new one.
 */
export interface Config {
  /** The file it was read from; absent if there is none. */
  readonly file?: string
  /** The complete text of the file. */
  readonly text?: Secret
  readonly server: ServerConfig
  readonly dataDir: string
  readonly keys: FixedKeys
  readonly providers: readonly ProviderConfig[]
  readonly models: readonly ModelConfig[]
  readonly catalog: { readonly open: boolean }
  readonly defaults: {
    readonly model?: string
    readonly plugins: readonly ({ readonly id: string } & JsonObject)[]
    readonly prompt_caching?: '5m' | '1h'
  }
  readonly routing: {
    readonly cooldown: boolean
    readonly retries: boolean
    readonly sticky: boolean
    /** Headers that identify a session if the caller names none in the body or in `x-session-id`; lower case. */
    readonly session_headers: readonly string[]
    readonly stream_failure: StreamFailure
  }
  readonly responses: ResponsesConfig
  readonly limits: LimitsConfig
  readonly network: { readonly allowPrivate: { readonly destinations: boolean; readonly tools: boolean; readonly media: boolean } }
  readonly tools: ToolsConfig
  readonly plugins: PluginsConfig
  readonly guardrails: GuardrailsConfig
  readonly destinations: DestinationsConfig
  readonly storage: StorageConfig
  /** `size`: bytes. */
  readonly answerCache: { readonly enabled: boolean; readonly size: number }
  readonly overload: OverloadConfig
  readonly retention: RetentionConfig
  readonly logging: { readonly level: LogLevel; readonly format: 'json' | 'pretty' }
}

/** How answers are presented to callers. */
export interface ResponsesConfig {
  /** Raw reasoning text is also sent as a summary, for clients that display only summaries. */
  readonly mirrorReasoning: boolean
  /** A failing stream also sends an `error` event before `response.failed`, if the caller states no preference. */
  readonly errorEvent: boolean
  /** Callers may ask to see what upstreams were sent (`debug.echo_upstream_body`). */
  readonly echoUpstreamBody: boolean
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface ServerConfig {
  readonly host: string
  readonly port: number
  readonly bodyLimit: number
  /** Whether the web console is served. */
  readonly console: boolean
  /** Origins whose pages may call the API, `*` for all; empty: none. */
  readonly allowedOrigins: readonly string[]
  /** How long running streams may continue after a stop signal. */
  readonly shutdownGrace: number
  /** Wrong API keys that one address may try per minute; null: unlimited. Absent: depends on the address the server listens on. */
  readonly wrongKeysPerMinute?: number | null
  /** How long a stopping process continues to serve while `readyz` reports not ready, so that load balancers notice before the port closes. */
  readonly shutdownDelay: number
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeout: number
  readonly role: Role
  /** Number of processes that share the port; `auto`: one per core. */
  readonly workers: number | 'auto'
}

/** `gateway` serves and records, `worker` delivers and cleans up, `all` does both. */
export type Role = 'all' | 'gateway' | 'worker'

/** When new calls are refused to protect those in progress. */
export interface OverloadConfig {
  readonly enabled: boolean
  /** The longest acceptable delay of the event loop, in milliseconds. */
  readonly eventLoopDelayMs: number
  /** Share of the heap, or of the memory that the process may use, 0 to 1. */
  readonly memoryShare: number
  /** Calls in flight in one process. */
  readonly calls: number
}

/** Retention times in milliseconds; `Infinity`: forever. */
export interface RetentionConfig {
  readonly generationsMs: number
  readonly contentMs: number
  readonly deadLettersMs: number
  readonly activityMs: number
  readonly spendMs: number
  readonly deletedDestinationsMs: number
  /** Time between two cleanup rounds. */
  readonly everyMs: number
}

/** Keys that the operator sets in the environment. The gateway generates missing ones and prints them once. */
export interface FixedKeys {
  readonly apiKey?: Secret
  readonly managementKey?: Secret
  /** Base64 of the 32 bytes that encrypt stored secrets. */
  readonly secretKey?: Secret
}

export interface ProviderConfig {
  readonly slug: string
  /** Slug of the built-in provider of which this one is another account. */
  readonly vendor?: string
  readonly name?: string
  readonly dialect?: string
  readonly baseUrl?: string
  /** Undefined: use the vendor's usual environment variables. Empty: use no key. */
  readonly apiKeys?: readonly Secret[]
  readonly options: JsonObject
  readonly timeouts: Partial<Timeouts>
  readonly rateLimits?: RateLimits
  readonly headers: { readonly [name: string]: string }
  /** Whether its requests carry the context of the gateway's span that they belong to. */
  readonly traceContext?: boolean
  readonly organization?: string
  /** Vendor-specific settings (region, resource, project), validated against the provider's own schema. */
  readonly settings: JsonObject
  readonly enabled: boolean
  readonly policies: Partial<EndpointPolicies>
  /** Overrides whether ids outside the catalog are served as `<slug>/<id>`. */
  readonly open?: boolean
}

export interface ModelConfig {
  readonly slug: string
  readonly name?: string
  readonly description?: string
  readonly created?: number
  readonly contextLength?: number
  /** Undefined: derived from the slug. */
  readonly answers?: 'text' | 'embeddings'
  readonly aliases: readonly string[]
  /** Only the endpoints below serve the model. */
  readonly onlyListed?: boolean
  readonly endpoints: readonly EndpointConfig[]
}

export interface EndpointConfig {
  /** Slug of a provider, or `slug/variant` for an endpoint with its own tag. */
  readonly provider: string
  readonly upstreamModel: string
  readonly pricing?: Pricing
  readonly contextLength?: number
  readonly maxOutputTokens?: number
  /** Capabilities; undefined: those that the dialect declares. */
  readonly supports?: readonly (Parameter | Modality)[]
  readonly unsupported: readonly Parameter[]
  readonly policies: Partial<EndpointPolicies>
  readonly weight?: number
  readonly rateLimits?: RateLimits
  readonly quantization?: string
  readonly region?: string
  readonly tier?: 'default' | 'flex' | 'priority'
  /** Model variant this endpoint serves: `free` for `author/slug:free`. */
  readonly variant?: string
  readonly reasonsByDefault?: boolean
  readonly implicitCaching?: boolean
  /** Dialect options of this endpoint; they override those of its provider. */
  readonly options: JsonObject
}

/** Default limits of every key, and how limits are enforced. */
export interface LimitsConfig {
  /** USD that the whole installation may ever spend with the gateway's own credentials. Absent: no limit. */
  readonly credits?: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly concurrentRequests?: number
  /** Whether calls with a spending limit may use endpoints of unknown price. */
  readonly unknownPrice: 'allow' | 'deny'
  /** Output tokens reserved for a call that sets no `max_output_tokens`. */
  readonly expectedOutputTokens: number
  /**
   * What happens to budgets while the shared state is unavailable or the database cannot report what was spent: `local` counts in this process,
   * `refuse` admits no calls.
   */
  readonly whenUnknown: 'local' | 'refuse'
}

/** Operator settings for the tools that the gateway runs itself. */
export interface ToolsConfig {
  readonly webSearch: {
    /** Name of an engine, or `auto`: the first engine that has everything it needs. */
    readonly engine: string
    readonly engines: { readonly [name: string]: SearchEngineConfig }
  }
  readonly webFetch: { readonly robots: boolean }
  readonly imageModel?: string
  readonly fusionModels?: readonly string[]
  /** Where commands of models may run: a server of the operator, never this process. */
  readonly sandbox?: { readonly url: string; readonly apiKey?: Secret }
  readonly mcp: {
    /** Whether streams report progress with `response.mcp_*` events, which the contract does not list. */
    readonly progressEvents: boolean
  }
  readonly limits: { readonly wallMs: number; readonly parallel: number }
}

export interface SearchEngineConfig {
  readonly apiKey?: Secret
  readonly baseUrl?: string
  /** USD per search; overrides the engine's list price. */
  readonly price?: number
}

export interface GuardrailsConfig {
  readonly rules: readonly ConfiguredGuardrail[]
  /** What happens to calls as long as the stored guardrails have never been read: `allow` serves them, `refuse` does not. */
  readonly whenUnknown: 'allow' | 'refuse'
}

export interface DestinationsConfig {
  readonly serviceName: string
  readonly baseUrls: { readonly [type: string]: string | null }
  /** Every destination is in privacy mode, and its owner cannot change this. Read at startup. */
  readonly privacyLocked: boolean
  /** Whether a caller's `traceparent` sets trace and parent of calls that do not name a trace themselves. */
  readonly traceContext: boolean
}

export interface StorageConfig {
  readonly database: 'sqlite' | 'postgres'
  /** Connection string of PostgreSQL. */
  readonly url?: Secret
  readonly shared: 'memory' | 'redis'
  readonly redisUrl?: Secret
  /** Prefix of all Redis keys of this installation. */
  readonly redisNamespace: string
}

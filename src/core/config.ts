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
 * The configuration after parsing: `signalbox.yaml`, environment and command line merged, defaults filled in, units resolved.
 * Durations are milliseconds, sizes bytes. Immutable: a reload makes a new one.
 */
export interface Config {
  /** The file it came from; absent when there is none. */
  readonly file?: string
  /** All that stood there. */
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
    /** Headers that name a session where callers say it neither in the body nor in `x-session-id`; small letters. */
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

/** How answers are told. */
export interface ResponsesConfig {
  /** Raw reasoning text is shown as a summary as well, for clients that display only summaries. */
  readonly mirrorReasoning: boolean
  /** A failing stream also sends an `error` event before `response.failed`, for callers who do not say. */
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
  /** Origins whose pages may ask the API, `*` for all; empty: none. */
  readonly allowedOrigins: readonly string[]
  /** How long running streams may finish after a stop signal. */
  readonly shutdownGrace: number
  /** Wrong API keys that one address may try in a minute; null: any number. Absent: where it listens decides. */
  readonly wrongKeysPerMinute?: number | null
  /** How long a stopping process goes on serving while `readyz` says no, so that load balancers notice before its port closes. */
  readonly shutdownDelay: number
  /** How long a connection is kept over which nobody asks. */
  readonly keepAliveTimeout: number
  readonly role: Role
  /** Processes that share the port; `auto`: one per core. */
  readonly workers: number | 'auto'
}

/** `gateway` serves and records, `worker` delivers and cleans up, `all` does both. */
export type Role = 'all' | 'gateway' | 'worker'

/** When new calls are refused so that those under way are served. */
export interface OverloadConfig {
  readonly enabled: boolean
  /** How late the event loop may be, milliseconds. */
  readonly eventLoopDelayMs: number
  /** Of the heap, or of the memory the process is allowed, 0 to 1. */
  readonly memoryShare: number
  /** Calls in flight in one process. */
  readonly calls: number
}

/** How long things are kept, milliseconds; `Infinity`: for ever. */
export interface RetentionConfig {
  readonly generationsMs: number
  readonly contentMs: number
  readonly deadLettersMs: number
  readonly activityMs: number
  readonly spendMs: number
  readonly deletedDestinationsMs: number
  /** Between two rounds of cleaning. */
  readonly everyMs: number
}

/** Keys given by the operator through the environment; what is absent is made by the gateway and printed once. */
export interface FixedKeys {
  readonly apiKey?: Secret
  readonly managementKey?: Secret
  /** Base64 of the 32 bytes that encrypt stored secrets. */
  readonly secretKey?: Secret
}

export interface ProviderConfig {
  readonly slug: string
  /** Slug of the built-in provider this one is another account of. */
  readonly vendor?: string
  readonly name?: string
  readonly dialect?: string
  readonly baseUrl?: string
  /** Undefined: take the vendor's usual variables. Empty: none wanted. */
  readonly apiKeys?: readonly Secret[]
  readonly options: JsonObject
  readonly timeouts: Partial<Timeouts>
  readonly rateLimits?: RateLimits
  readonly headers: { readonly [name: string]: string }
  /** Its requests say which span of ours they come from. */
  readonly traceContext?: boolean
  readonly organization?: string
  /** Vendor-specific settings (region, resource, project); checked against the provider's own schema. */
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
  /** Undefined: what the slug tells. */
  readonly answers?: 'text' | 'embeddings'
  readonly aliases: readonly string[]
  /** Nobody serves it beside the endpoints below. */
  readonly onlyListed?: boolean
  readonly endpoints: readonly EndpointConfig[]
}

export interface EndpointConfig {
  /** Slug of a provider, or `slug/variant` for an endpoint of its own tag. */
  readonly provider: string
  readonly upstreamModel: string
  readonly pricing?: Pricing
  readonly contextLength?: number
  readonly maxOutputTokens?: number
  /** Capabilities; undefined: what the dialect declares. */
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
  /** Dialect options of this endpoint, over those of its provider. */
  readonly options: JsonObject
}

/** Limits of every key, unless it has its own, and how limits are kept. */
export interface LimitsConfig {
  /** USD the whole installation may spend with the gateway's own credentials, ever. Absent: no limit. */
  readonly credits?: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly concurrentRequests?: number
  /** Whether calls whose spending is limited may use endpoints whose price nobody knows. */
  readonly unknownPrice: 'allow' | 'deny'
  /** Tokens of output that are reserved for a call that sets no `max_output_tokens`. */
  readonly expectedOutputTokens: number
  /** Budgets while the shared state is away or the database cannot say what was spent: `local` counts in this process, `refuse` admits nobody. */
  readonly whenUnknown: 'local' | 'refuse'
}

/** What the operator gives to tools the gateway runs itself. */
export interface ToolsConfig {
  readonly webSearch: {
    /** Name of an engine, or `auto`: the first one that has what it needs. */
    readonly engine: string
    readonly engines: { readonly [name: string]: SearchEngineConfig }
  }
  readonly webFetch: { readonly robots: boolean }
  readonly imageModel?: string
  readonly fusionModels?: readonly string[]
  /** Where commands of models may run: a server of the operator's, never this process. */
  readonly sandbox?: { readonly url: string; readonly apiKey?: Secret }
  readonly mcp: {
    /** Whether streams tell of progress by `response.mcp_*` events, which the contract does not list. */
    readonly progressEvents: boolean
  }
  readonly limits: { readonly wallMs: number; readonly parallel: number }
}

export interface SearchEngineConfig {
  readonly apiKey?: Secret
  readonly baseUrl?: string
  /** USD per search, over the engine's list price. */
  readonly price?: number
}

export interface GuardrailsConfig {
  readonly rules: readonly ConfiguredGuardrail[]
  /** Calls while the stored guardrails were never read: served, or refused. */
  readonly whenUnknown: 'allow' | 'refuse'
}

export interface DestinationsConfig {
  readonly serviceName: string
  readonly baseUrls: { readonly [type: string]: string | null }
  /** Every destination is in privacy mode, and its owner cannot change that. Read at the start. */
  readonly privacyLocked: boolean
  /** `traceparent` of callers names trace and parent of calls that name no trace themselves. */
  readonly traceContext: boolean
}

export interface StorageConfig {
  readonly database: 'sqlite' | 'postgres'
  /** Connection string of PostgreSQL. */
  readonly url?: Secret
  readonly shared: 'memory' | 'redis'
  readonly redisUrl?: Secret
  /** Prefix of everything this installation keeps in Redis. */
  readonly redisNamespace: string
}

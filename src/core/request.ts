import type { InputItem, JsonObject, Tool, ToolChoice } from './item.ts'

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface ReasoningOptions {
  readonly effort?: ReasoningEffort | null
  readonly summary?: 'auto' | 'concise' | 'detailed' | null
  readonly max_tokens?: number | null
  readonly enabled?: boolean | null
  /** Reasoning counts toward `max_output_tokens` at every endpoint, for a front door whose format limits the two together. */
  readonly within_output?: boolean | null
  /** The endpoint requires an explicit "none", according to its refusals, although it is not known to have reasoning to switch off. */
  readonly stated?: boolean | null
  readonly context?: string | null
  readonly mode?: string | null
}

export interface CacheOptions {
  readonly mode?: 'explicit' | 'implicit' | null
  readonly ttl?: string | null
  /** The prompt is only to be cached; see prewarm.ts. */
  readonly prewarm?: boolean | null
  /** An earlier response, for a report why the cache was missed. The vendor does not know the gateway's ids. */
  readonly comparison_response_id?: string | null
}

export type TextFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly schema: JsonObject
      readonly description?: string | null
      readonly strict?: boolean | null
    }

export type Percentiles = { readonly p50?: number | null; readonly p75?: number | null; readonly p90?: number | null; readonly p99?: number | null }
export const SORT_KEYS = ['price', 'throughput', 'latency', 'exacto'] as const
export type SortKey = (typeof SORT_KEYS)[number]

/** The caller's routing preferences: section 3 of the contract's semantics. Prices in USD per million tokens (prompt, completion) or per unit. */
export interface ProviderPreferences {
  readonly order?: readonly string[] | null
  readonly only?: readonly string[] | null
  readonly ignore?: readonly string[] | null
  readonly allow_fallbacks?: boolean | null
  readonly require_parameters?: boolean | null
  readonly data_collection?: 'allow' | 'deny' | null
  readonly zdr?: boolean | null
  readonly enforce_distillable_text?: boolean | null
  readonly quantizations?: readonly string[] | null
  readonly max_price?: { readonly [kind in 'prompt' | 'completion' | 'request' | 'image' | 'audio']?: string | number } | null
  readonly sort?: SortKey | { readonly by?: SortKey | null; readonly partition?: 'model' | 'none' | null } | null
  readonly preferred_max_latency?: number | Percentiles | null
  readonly preferred_min_throughput?: number | Percentiles | null
}

export interface TraceOptions {
  readonly trace_id?: string
  readonly trace_name?: string
  readonly span_name?: string
  readonly generation_name?: string
  readonly parent_span_id?: string
  readonly [key: string]: unknown
}

/**
 * One validated request, independent of any dialect: the Responses body with `input` as a list of items. Unknown top-level fields of the caller are
 * kept, so that a native upstream receives them.
 */
export interface ModelRequest {
  readonly model?: string
  readonly models?: readonly string[]
  readonly input: readonly InputItem[]
  readonly instructions?: string | null
  readonly tools?: readonly Tool[]
  readonly tool_choice?: ToolChoice
  readonly parallel_tool_calls?: boolean | null
  readonly max_output_tokens?: number | null
  readonly max_tool_calls?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly presence_penalty?: number | null
  readonly frequency_penalty?: number | null
  readonly top_logprobs?: number | null
  readonly include?: readonly string[] | null
  readonly reasoning?: ReasoningOptions | null
  readonly text?: { readonly format?: TextFormat; readonly verbosity?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null } | null
  readonly stream?: boolean | null
  readonly user?: string | null
  readonly session_id?: string
  readonly safety_identifier?: string | null
  readonly prompt_cache_key?: string | null
  readonly prompt_cache_options?: CacheOptions | null
  readonly cache_control?: { readonly type: 'ephemeral'; readonly ttl?: '5m' | '1h' } | null
  readonly service_tier?: 'auto' | 'default' | 'fast' | 'flex' | 'priority' | 'scale' | null
  readonly truncation?: 'auto' | 'disabled' | null
  readonly metadata?: { readonly [key: string]: string } | null
  readonly modalities?: readonly string[]
  readonly image_config?: JsonObject
  readonly provider?: ProviderPreferences | null
  readonly plugins?: readonly ({ readonly id: string } & JsonObject)[]
  readonly stop_server_tools_when?: readonly ({ readonly type: string } & JsonObject)[]
  readonly trace?: TraceOptions
  readonly debug?: { readonly echo_upstream_body?: boolean | null }
  /** Names of features that are not part of a vendor's format yet, as requested by the caller in a header (`Dialect.betaHeaders`). */
  readonly vendor_betas?: readonly string[]
  /** The form of a request that an endpoint requires, according to its refusals. */
  readonly request_forms?: { readonly [form in RequestForm]?: boolean }
  /** What the caller's `reasoning` and `text` are before items of the input change them; the fields above are what is in force at its end. */
  readonly initial_settings?: Pick<ModelRequest, 'reasoning' | 'text'>
  readonly [extra: string]: unknown
}

/**
 * `alternating`: no two consecutive turns of one role; `reasoning_replayed`: with the reasoning that led to calls; `max_completion_tokens`: the output
 * limit has its newer name; the others leave out what they name.
 */
export type RequestForm = 'alternating' | 'no_system_role' | 'reasoning_replayed' | 'max_completion_tokens' | 'no_stream_options' | 'no_cache_control'

/** Whether the request is for embeddings instead of an answer. */
export const asksForEmbeddings = ({ modalities }: Pick<ModelRequest, 'modalities'>): boolean => modalities?.includes('embeddings') === true

/** The most tool calls in one answer that the gateway, or an endpoint on its behalf, may make: the contract's default and its maximum. */
export const MAX_TOOL_CALLS = 30

/** Fields that control the gateway itself and reach no upstream unchanged. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'plugins',
  'route',
  'session_id',
  'trace',
  'preset',
  'transforms',
  'cache_control',
  'debug',
  'stop_server_tools_when',
  'image_config',
  'modalities',
  'store',
  'previous_response_id',
  'stream',
  'stream_options',
  'max_tool_calls',
  'vendor_betas',
  'request_forms',
  'initial_settings',
])

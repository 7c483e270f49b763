import type { Modality, Parameter } from '../core/capability.ts'

/** The contract's shapes of models, endpoints and providers. Field names are those of the wire format. */

export interface Percentiles {
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
}

interface PublicPrices {
  readonly prompt?: string
  readonly completion?: string
  readonly input_cache_read?: string
  readonly input_cache_write?: string
  readonly input_cache_write_1h?: string
}

export interface PublicPricing extends PublicPrices {
  /** USD per token; `-1` if unknown. */
  readonly prompt: string
  readonly completion: string
  readonly audio?: string
  readonly image?: string
  readonly image_output?: string
  readonly request?: string
  readonly web_search?: string
  readonly overrides?: readonly (PublicPrices & { readonly min_prompt_tokens?: number; readonly utc_start?: number; readonly utc_end?: number })[]
}

interface PublicArchitecture {
  readonly input_modalities: readonly Modality[]
  readonly output_modalities: readonly Modality[]
  readonly modality: string | null
  readonly tokenizer: string
}

export interface PublicModel {
  readonly id: string
  readonly canonical_slug: string
  readonly name: string
  readonly description?: string
  readonly created: number
  readonly context_length: number | null
  readonly architecture: PublicArchitecture
  readonly pricing: PublicPricing
  readonly top_provider: { readonly context_length: number | null; readonly max_completion_tokens: number | null; readonly is_moderated: boolean }
  readonly per_request_limits: null
  readonly supported_parameters: readonly Parameter[]
  readonly default_parameters: null
  readonly supported_voices: null
  readonly reasoning?: {
    readonly mandatory: boolean
    readonly default_enabled: boolean
    readonly supported_efforts: null
    readonly supports_max_tokens: boolean
  }
  readonly alias_target?: { readonly slug: string; readonly name: string }
  readonly links: { readonly details: string }
}

export interface PublicEndpoint {
  readonly name: string
  readonly model_id: string
  readonly model_name: string
  readonly context_length: number
  readonly pricing: PublicPricing
  readonly provider_name: string
  readonly tag: string
  readonly quantization: string
  readonly max_completion_tokens: number | null
  readonly max_prompt_tokens: number | null
  readonly supported_parameters: readonly Parameter[]
  /** 0 healthy, -1 degraded. */
  readonly status: 0 | -1
  readonly uptime_last_5m: number | null
  readonly uptime_last_30m: number | null
  readonly uptime_last_1d: number | null
  readonly supports_implicit_caching: boolean
  readonly supports_tool_choice: { readonly [choice in 'auto' | 'none' | 'required' | 'function']: boolean }
  readonly latency_last_30m: Percentiles | null
  readonly throughput_last_30m: Percentiles | null
}

export interface PublicEndpoints {
  readonly id: string
  readonly name: string
  readonly created: number
  readonly description: string
  readonly architecture: PublicArchitecture & { readonly instruct_type: null }
  readonly endpoints: readonly PublicEndpoint[]
}

export interface PublicProvider {
  readonly name: string
  readonly slug: string
  readonly privacy_policy_url: string | null
  readonly terms_of_service_url: string | null
  readonly status_page_url: string | null
  readonly headquarters: null
  readonly datacenters: null
}

import type { Connection } from './provider.ts'

/** Parameter names of the public contract, as used in `supported_parameters`. */
export type Parameter =
  | 'temperature' | 'top_p' | 'top_k' | 'min_p' | 'top_a' | 'frequency_penalty' | 'presence_penalty' | 'repetition_penalty' | 'max_tokens'
  | 'max_completion_tokens' | 'logit_bias' | 'logprobs' | 'top_logprobs' | 'prediction' | 'seed' | 'response_format' | 'structured_outputs'
  | 'stop' | 'tools' | 'tool_choice' | 'parallel_tool_calls' | 'include_reasoning' | 'reasoning' | 'reasoning_effort' | 'web_search_options'
  | 'verbosity'

/** USD per million tokens; `request`, `image` and `webSearch` in USD per unit. Absent means unknown, not free. */
export interface Pricing {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly cacheWrite1h?: number
  readonly inputAudio?: number
  readonly request?: number
  readonly image?: number
  readonly webSearch?: number
  /** Prices that apply from this many input tokens on (the highest threshold reached wins). */
  readonly tiers?: readonly { readonly fromInputTokens: number; readonly input?: number; readonly output?: number; readonly cacheRead?: number; readonly cacheWrite?: number }[]
}

export interface EndpointPolicies {
  /** Whether the vendor may keep or train on prompts. */
  readonly dataCollection: 'allow' | 'deny'
  readonly zdr: boolean
  /** False when the vendor's terms forbid training other models on its output. */
  readonly distillable: boolean
}

export type Modality = 'text' | 'image' | 'file' | 'audio' | 'video'

/** One way to serve a model: provider, upstream model id, price, limits, capabilities, policies. */
export interface Endpoint {
  /** Unique and stable: `model-slug@provider-tag#upstream-model`. */
  readonly id: string
  /** The model it serves: `author/slug`, without variant. */
  readonly model: string
  readonly variant?: string
  /** Provider slug, `deepinfra`; the tag adds the variant, `deepinfra/turbo`, `openai/flex`. */
  readonly provider: string
  readonly tag: string
  readonly providerName: string
  readonly upstreamModel: string
  readonly contextLength: number
  readonly maxOutputTokens?: number
  readonly pricing: Pricing
  readonly supports: ReadonlySet<Parameter>
  readonly inputModalities: ReadonlySet<Modality>
  readonly outputModalities: ReadonlySet<Modality>
  readonly policies: EndpointPolicies
  readonly quantization: string
  readonly region?: string
  /** Service tier this endpoint stands for; endpoints with `flex` or `priority` serve only those who ask. */
  readonly tier?: 'default' | 'flex' | 'priority'
  /** True when the model reasons without being asked: silence is then no sign of death. */
  readonly reasonsByDefault?: boolean
  /** Whether the upstream caches prompts by itself. */
  readonly implicitCaching?: boolean
  readonly connection: Connection
}

export interface Model {
  readonly slug: string
  readonly name: string
  readonly description?: string
  /** Unix seconds. */
  readonly created: number
  readonly contextLength: number
  readonly aliases?: readonly string[]
  readonly endpoints: readonly Endpoint[]
}

/** The read-only view of models the hot path and the router use. A snapshot: replaced as a whole on reload. */
export interface Catalog {
  /** Resolves a slug, an alias or a `:variant` name to its model. Undefined when nothing serves it. */
  readonly find: (slug: string) => Model | undefined
  readonly models: () => readonly Model[]
}

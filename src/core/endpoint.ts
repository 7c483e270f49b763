import type { EndpointPolicies, Modality, Parameter } from './capability.ts'
import type { Pricing } from './pricing.ts'
import type { Connection } from './provider.ts'
import type { NamedProvider } from './provider-names.ts'
import type { EndpointTier } from './service-tier.ts'

export type { EndpointPolicies, Modality, Parameter } from './capability.ts'
export type { Pricing } from './pricing.ts'

/** How much this gateway may send to a provider or an endpoint; absent: no limit. */
export interface RateLimits {
  readonly requestsPerMinute?: number
  /** Prompts and answers together. */
  readonly tokensPerMinute?: number
  readonly concurrentRequests?: number
}

/** The same limits, and what they are counted for. */
export interface EndpointLimit extends RateLimits {
  /** `provider:<slug>` for all its endpoints together, or `endpoint:<id>`. */
  readonly subject: string
}

/** One way to serve a model: provider, upstream model id, price, limits, capabilities, policies. */
export interface Endpoint {
  /** Unique and stable: `model-slug@provider-tag#upstream-model`. */
  readonly id: string
  /** The model that it serves: `author/slug`, without variant. */
  readonly model: string
  readonly variant?: string
  /** Other names by which lists of models may refer to the model. */
  readonly aliases?: readonly string[]
  /**
   * The catalog's names for the model if `model` is not one of them, because the caller spells it as its provider does (`google-ai-studio/gemini-2.5-pro`,
   * `openai/gpt-5-2025-08-07`). What forbids the model by one of these names forbids it here, too. They allow nothing: some are recognised by similarity.
   */
  readonly knownAs?: readonly string[]
  /** Provider slug, `deepinfra`; the tag adds the variant, `deepinfra/turbo`, `openai/flex`. */
  readonly provider: string
  readonly tag: string
  /** The vendor of which the provider is one of several accounts. The vendor's name refers to all of them. */
  readonly vendor?: NamedProvider
  readonly providerName: string
  readonly upstreamModel: string
  readonly contextLength: number
  readonly maxOutputTokens?: number
  readonly pricing: Pricing
  readonly supports: ReadonlySet<Parameter>
  readonly inputModalities: ReadonlySet<Modality>
  readonly outputModalities: ReadonlySet<Modality>
  readonly policies: EndpointPolicies
  /** Relative share in load balancing among endpoints of the same price; absent: 1. 0: gets calls only if no other endpoint can serve. */
  readonly weight?: number
  /** The operator's limits on what is sent to it; absent: no limits. */
  readonly limits?: readonly EndpointLimit[]
  readonly quantization: string
  readonly region?: string
  /**
   * The service tier that this endpoint stands for and requests from its upstream. Endpoints with `flex` or `priority` serve only callers who ask for
   * it; the others of the same model and provider are `default` then. Absent: nothing is known about tiers, and the upstream gets the tier that the
   * caller asks for.
   */
  readonly tier?: EndpointTier
  /** True if the model reasons without being asked, so that silence does not mean that it failed. */
  readonly reasonsByDefault?: boolean
  /** Whether the upstream caches prompts automatically. */
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

/** The read-only view of models for the hot path and the router. A snapshot: replaced as a whole on reload. */
export interface Catalog {
  /** Resolves a slug, an alias or a `:variant` name to its model. Undefined if no endpoint serves it. */
  readonly find: (slug: string) => Model | undefined
  readonly models: () => readonly Model[]
  /** Finds known providers that are off, by their slug or by an author whose models they are home to. Returns sentences that say how to switch on each. */
  readonly off?: (name: string) => readonly string[]
}

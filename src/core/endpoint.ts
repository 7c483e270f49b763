import type { EndpointPolicies, Modality, Parameter } from './capability.ts'
import type { Pricing } from './pricing.ts'
import type { Connection } from './provider.ts'
import type { NamedProvider } from './provider-names.ts'
import type { EndpointTier } from './service-tier.ts'

export type { EndpointPolicies, Modality, Parameter } from './capability.ts'
export type { Pricing } from './pricing.ts'

/** What a provider, or one endpoint, may be sent by this gateway; absent: as much as it takes. */
export interface RateLimits {
  readonly requestsPerMinute?: number
  /** Of prompts and answers together. */
  readonly tokensPerMinute?: number
  readonly concurrentRequests?: number
}

/** The same, and for whom they are counted. */
export interface EndpointLimit extends RateLimits {
  /** `provider:<slug>`, all its endpoints together, or `endpoint:<id>`. */
  readonly subject: string
}

/** One way to serve a model: provider, upstream model id, price, limits, capabilities, policies. */
export interface Endpoint {
  /** Unique and stable: `model-slug@provider-tag#upstream-model`. */
  readonly id: string
  /** The model it serves: `author/slug`, without variant. */
  readonly model: string
  readonly variant?: string
  /** Other names of the model, by which lists of models may mean it. */
  readonly aliases?: readonly string[]
  /** Provider slug, `deepinfra`; the tag adds the variant, `deepinfra/turbo`, `openai/flex`. */
  readonly provider: string
  readonly tag: string
  /** The vendor the provider is one of several accounts of. Whoever names the vendor means all of them. */
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
  /** Calls it gets in the balance, for each that one of the same price gets; absent: 1. 0: none while another can serve. */
  readonly weight?: number
  /** What the operator lets it be sent; absent: no limits. */
  readonly limits?: readonly EndpointLimit[]
  readonly quantization: string
  readonly region?: string
  /**
   * The service tier that this endpoint stands for and requests from its upstream. Endpoints with `flex` or `priority` serve only callers who ask for
   * it; the others of the same model and provider are `default` then. Absent: nothing is known about tiers, and the upstream gets the tier that the
   * caller asks for.
   */
  readonly tier?: EndpointTier
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
  /** Known providers that are off, by their slug or as the home of an author's models: sentences that say how each is switched on. */
  readonly off?: (name: string) => readonly string[]
}

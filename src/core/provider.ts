import type { ZodType } from 'zod'
import type { Secret } from '../lib/secret.ts'
import type { Dialect, UpstreamRequest } from './dialect.ts'
import type { EndpointPolicies, Modality, Parameter } from './capability.ts'
import type { Pricing } from './pricing.ts'

/** Milliseconds. The value of `auto` is decided per attempt (router/limits.ts). */
export interface Timeouts {
  readonly connect: number
  readonly firstToken: number | 'auto'
  readonly idle: number | 'auto'
  readonly total: number
}

export const DEFAULT_TIMEOUTS: Timeouts = { connect: 5_000, firstToken: 'auto', idle: 'auto', total: 15 * 60_000 }

export interface Credential {
  /** Position in the pool, or id of a caller's own key; used by logs and the pool's state. */
  readonly id: string
  readonly secret: Secret
}

/** A connected provider: everything that an attempt needs to reach it. */
export interface Connection {
  readonly provider: string
  readonly providerName: string
  /** Includes the version; the dialect appends its path. No trailing slash. */
  readonly baseUrl: string
  readonly dialect: Dialect
  /** The dialect's declared quirks, already validated by `dialect.options`. */
  readonly options: unknown
  /** A pool; empty for servers without authentication. */
  readonly credentials: readonly Credential[]
  /** Identifies the organisation whose encrypted reasoning can be replayed here (default: provider and origin). */
  readonly scope: string
  readonly timeouts: Timeouts
  readonly headers?: { readonly [name: string]: string }
  /** Requests carry `traceparent` with the gateway's span that they belong to. */
  readonly traceContext?: boolean
  /** Secret values among the headers that must not be shown to callers if the provider quotes them. */
  readonly secrets?: readonly string[]
  /** The operator's account is named by a header and not by a key, so it pays for a request with a caller's own key, too. */
  readonly operatorPays?: true
  /** Adds the credential to the request. Default: `authorization: Bearer`. May be asynchronous (token exchange, SigV4). */
  readonly sign?: (request: SignableRequest, credential: Credential | undefined, signal: AbortSignal) => SignableRequest | Promise<SignableRequest>
  /** An in-process upstream (the `demo` provider) that answers without a socket. */
  readonly transport?: InProcessTransport
}

export interface SignableRequest extends UpstreamRequest {
  readonly url: string
}

/** Takes and returns bytes, like a socket, so that the same dialect, limits and abort rules apply. */
export type InProcessTransport = (
  request: SignableRequest,
  signal: AbortSignal,
) => Promise<{
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: AsyncIterable<Buffer>
}>

/** What operators may configure for any provider (config: `providers[]`). */
export interface ProviderSettings {
  readonly baseUrl?: string
  readonly apiKeys: readonly Secret[]
  readonly options: { readonly [option: string]: unknown }
  readonly timeouts?: Partial<Timeouts>
  readonly headers?: { readonly [name: string]: string }
  readonly organization?: string
  /** Vendor-specific settings (region, project, deployment), validated by `Provider.settings`. */
  readonly extra: { readonly [key: string]: unknown }
}

/** A model that a provider declares itself, because no price data contains it. */
export interface ProviderModel {
  /** `author/slug`. */
  readonly slug: string
  readonly name: string
  readonly description?: string
  readonly upstreamModel: string
  readonly contextLength: number
  readonly maxOutputTokens?: number
  readonly pricing?: Pricing
  readonly inputModalities?: readonly Modality[]
  /** Default: text. */
  readonly answers?: 'text' | 'embeddings'
  readonly reasonsByDefault?: boolean
}

/** How a vendor's models enter the catalog. */
export interface ProviderModels {
  /** Author for upstream ids that contain no author and belong to no family that the catalog knows. Default: the provider's slug. */
  readonly author?: string
  /** Whether ids without catalog data are served as `<provider>/<id>`, at an unknown price. Default true. */
  readonly open?: boolean
  /** Upstream ids for ids of the price data that only identify the model; the vendor itself does not know those names. */
  readonly ids?: { readonly [id: string]: string }
  /** Ids of the price data that are not served here, or only in formats that the gateway does not speak. */
  readonly exclude?: RegExp
  /** Upstream ids of models that accept images here, although models of the same name elsewhere do not. */
  readonly seeing?: RegExp
  /** Parameters that this vendor accepts for all its models, although not every server of the dialect does. */
  readonly supported?: readonly Parameter[]
  /** Parameters of the dialect that this vendor rejects or ignores. */
  readonly unsupported?: readonly Parameter[]
  /** Models that are declared here instead of in the price data. */
  readonly list?: readonly ProviderModel[]
}

/** One vendor: configuration for a dialect, plus signing if the vendor requires its own. Each is one file in providers/. */
export interface Provider {
  readonly slug: string
  readonly name: string
  /** Environment variables that enable it: a credential, or a base URL for local servers. */
  readonly env: {
    readonly apiKey?: readonly string[]
    readonly baseUrl?: readonly string[]
    /** Variables of vendor-specific settings, by setting name. */
    readonly settings?: { readonly [setting: string]: readonly string[] }
  }
  /** True for servers that work without a credential (local ones). */
  readonly keyless?: boolean
  /** The vendor-specific setting that replaces credentials if it is set, such as a key file instead of keys. */
  readonly credentialSetting?: string
  /** The default base URL; undefined if the operator must configure one. */
  readonly baseUrl?: string
  /** Path for a base URL that comes without one from the environment or an entry in `providers`. Default, for the environment: the path of `baseUrl`. */
  readonly basePath?: string
  /** Default dialect of its models; a vendor with several formats declares which model uses which. */
  readonly dialect: string
  readonly dialectFor?: (upstreamModel: string) => string | undefined
  /** The dialect for embeddings; `none`: it creates none that the gateway could request. Default: as its dialect says. */
  readonly embeddings?: string
  /** Dialects of embedding models that use another one: the first entry whose pattern matches the upstream id applies. */
  readonly embeddingsFor?: readonly (readonly [model: RegExp, dialect: string])[]
  /** Options (quirks) of this vendor for `dialect`. */
  readonly options?: { readonly [option: string]: unknown }
  /** Options for the other dialects that it may use. */
  readonly dialectOptions?: { readonly [dialect: string]: { readonly [option: string]: unknown } }
  /** Settings of this vendor in addition to the common ones; unknown keys are errors. */
  readonly settings?: ZodType
  readonly policies?: Partial<EndpointPolicies>
  readonly headers?: { readonly [name: string]: string }
  /** Id of this vendor in the price data, if it differs from the slug. */
  readonly priceProvider?: string
  readonly models?: ProviderModels
  readonly homepage?: string
  readonly statusPage?: string
  readonly privacyPolicy?: string
  readonly termsOfService?: string
  /** Builds what differs from the default connection: base URL from settings, signing, in-process transport. */
  readonly connect?: (settings: ProviderSettings) => Partial<Pick<Connection, 'baseUrl' | 'sign' | 'headers' | 'transport' | 'scope'>> & {
    /** Base URLs of dialects that `dialectFor` may return, if they differ. */
    readonly baseUrls?: { readonly [dialect: string]: string }
    /** Base URL of a model with an address of its own, for any dialect. Depends only on settings, like `baseUrls`. */
    readonly baseUrlFor?: (upstreamModel: string) => string | undefined
  }
}

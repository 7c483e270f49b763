import type { ZodType } from 'zod'
import type { Secret } from '../lib/secret.ts'
import type { Dialect, UpstreamRequest } from './dialect.ts'
import type { EndpointPolicies, Modality, Parameter } from './capability.ts'
import type { Pricing } from './pricing.ts'

/** Milliseconds; what `auto` comes to is decided per attempt (router/limits.ts). */
export interface Timeouts {
  readonly connect: number
  readonly firstToken: number | 'auto'
  readonly idle: number | 'auto'
  readonly total: number
}

export const DEFAULT_TIMEOUTS: Timeouts = { connect: 5_000, firstToken: 'auto', idle: 'auto', total: 15 * 60_000 }

export interface Credential {
  /** Position in the pool or id of a caller's own key: what logs and the pool's state speak of. */
  readonly id: string
  readonly secret: Secret
}

/** A provider, connected: everything an attempt needs to reach it. */
export interface Connection {
  readonly provider: string
  readonly providerName: string
  /** Up to and including the version; the dialect appends its path. No trailing slash. */
  readonly baseUrl: string
  readonly dialect: Dialect
  /** The dialect's declared quirks, already validated by `dialect.options`. */
  readonly options: unknown
  /** A pool; empty for servers without authentication. */
  readonly credentials: readonly Credential[]
  /** Names the organisation whose encrypted reasoning can be replayed here (default: provider and origin). */
  readonly scope: string
  readonly timeouts: Timeouts
  readonly headers?: { readonly [name: string]: string }
  /** Requests say in `traceparent` which span of ours they come from. */
  readonly traceContext?: boolean
  /** Values among them that no caller is shown, should the provider quote them. */
  readonly secrets?: readonly string[]
  /** Puts the credential on the request. Default: `authorization: Bearer`. May be asynchronous (token exchange, SigV4). */
  readonly sign?: (request: SignableRequest, credential: Credential | undefined, signal: AbortSignal) => SignableRequest | Promise<SignableRequest>
  /** An in-process upstream (the `demo` provider): answers without a socket. */
  readonly transport?: InProcessTransport
}

export interface SignableRequest extends UpstreamRequest {
  readonly url: string
}

/** Bytes in, bytes out, like a socket, so that the same dialect, limits and abort rules apply. */
export type InProcessTransport = (
  request: SignableRequest,
  signal: AbortSignal,
) => Promise<{
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: AsyncIterable<Buffer>
}>

/** What operators may set for a provider, whatever its kind (config: `providers[]`). */
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

/** A model a provider declares itself, because no price data knows it. */
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
  /** Author of upstream ids that name none and belong to no family the catalog knows. Default: the provider's slug. */
  readonly author?: string
  /** Whether ids the catalog has no data on are served as `<provider>/<id>`, at an unknown price. Default true. */
  readonly open?: boolean
  /** Ids in the price data that only identify the model; the vendor would answer that it knows no such name. */
  readonly ids?: { readonly [id: string]: string }
  /** Ids of the price data that are not served here, or in no format the gateway speaks. */
  readonly exclude?: RegExp
  /** Upstream ids of models that see here, though what goes by their name elsewhere does not. */
  readonly seeing?: RegExp
  /** Parameters this vendor takes for all its models, though not every server of the dialect does. */
  readonly supported?: readonly Parameter[]
  /** Parameters of the dialect this vendor rejects or ignores. */
  readonly unsupported?: readonly Parameter[]
  /** Models declared here instead of in the price data. */
  readonly list?: readonly ProviderModel[]
}

/** One vendor: data on a dialect, plus signing where a vendor needs its own. One file each in providers/. */
export interface Provider {
  readonly slug: string
  readonly name: string
  /** Environment variables that switch it on: a credential, or a base URL for local servers. */
  readonly env: {
    readonly apiKey?: readonly string[]
    readonly baseUrl?: readonly string[]
    /** Variables of vendor-specific settings, by setting name. */
    readonly settings?: { readonly [setting: string]: readonly string[] }
  }
  /** True for servers that work without a credential (local ones). */
  readonly keyless?: boolean
  /** The setting of this vendor that, when given, makes up for credentials: a key file instead of keys. */
  readonly credentialSetting?: string
  /** Where it lives when nothing is configured; undefined when the operator must say. */
  readonly baseUrl?: string
  /** Path of a base URL that the environment, or an entry under `providers`, gives without one. Default, for the environment: the path of `baseUrl`. */
  readonly basePath?: string
  /** Dialect of a model; a vendor with several formats declares which model takes which. */
  readonly dialect: string
  readonly dialectFor?: (upstreamModel: string) => string | undefined
  /** The dialect for embeddings; `none`: it makes none that the gateway could ask for. Default: as its dialect says. */
  readonly embeddings?: string
  /** Dialects of those that are asked in another one: the first whose pattern the upstream id fits. */
  readonly embeddingsFor?: readonly (readonly [model: RegExp, dialect: string])[]
  /** Options (quirks) of this vendor, for `dialect`. */
  readonly options?: { readonly [option: string]: unknown }
  /** Options for the other dialects that it may be asked in. */
  readonly dialectOptions?: { readonly [dialect: string]: { readonly [option: string]: unknown } }
  /** Extra settings of this vendor beyond the common ones; unknown keys are errors. */
  readonly settings?: ZodType
  readonly policies?: Partial<EndpointPolicies>
  readonly headers?: { readonly [name: string]: string }
  /** Id of this vendor in the price data, when it differs from the slug. */
  readonly priceProvider?: string
  readonly models?: ProviderModels
  readonly homepage?: string
  readonly statusPage?: string
  readonly privacyPolicy?: string
  readonly termsOfService?: string
  /** Builds what differs from the default connection: base URL from settings, signing, in-process transport. */
  readonly connect?: (settings: ProviderSettings) => Partial<Pick<Connection, 'baseUrl' | 'sign' | 'headers' | 'transport' | 'scope'>> & {
    /** Where dialects live that `dialectFor` may name, when that is elsewhere. */
    readonly baseUrls?: { readonly [dialect: string]: string }
    /** Where a model lives that has an address of its own, whatever its dialect. Constant but for settings, as `baseUrls` are. */
    readonly baseUrlFor?: (upstreamModel: string) => string | undefined
  }
}

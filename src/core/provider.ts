import type { ZodType } from 'zod'
import type { Secret } from '../lib/secret.ts'
import type { Dialect, UpstreamRequest } from './dialect.ts'
import type { EndpointPolicies } from './capability.ts'

/** Milliseconds; `firstToken: 'auto'` follows section 3 of the semantics. */
export interface Timeouts {
  readonly connect: number
  readonly firstToken: number | 'auto'
  readonly idle: number
  readonly total: number
}

export const DEFAULT_TIMEOUTS: Timeouts = { connect: 5_000, firstToken: 'auto', idle: 60_000, total: 15 * 60_000 }

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
  /** Puts the credential on the request. Default: `authorization: Bearer`. May be asynchronous (token exchange, SigV4). */
  readonly sign?: (request: SignableRequest, credential: Credential | undefined, signal: AbortSignal) => SignableRequest | Promise<SignableRequest>
  /** An in-process upstream (the `demo` provider): answers without a socket. */
  readonly transport?: InProcessTransport
}

export interface SignableRequest extends UpstreamRequest {
  readonly url: string
}

/** Bytes in, bytes out, like a socket, so that the same dialect, limits and abort rules apply. */
export type InProcessTransport = (request: SignableRequest, signal: AbortSignal) => Promise<{
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

/** One vendor: data on a dialect, plus signing where a vendor needs its own. One file each in providers/. */
export interface Provider {
  readonly slug: string
  readonly name: string
  /** Environment variables that switch it on: a credential, or a base URL for local servers. */
  readonly env: { readonly apiKey?: readonly string[]; readonly baseUrl?: readonly string[] }
  /** Where it lives when nothing is configured; undefined when the operator must say. */
  readonly baseUrl?: string
  /** Dialect of a model; a vendor with several formats declares which model takes which. */
  readonly dialect: string
  readonly dialectFor?: (upstreamModel: string) => string | undefined
  /** Dialect options (quirks) of this vendor. */
  readonly options?: { readonly [option: string]: unknown }
  /** Extra settings of this vendor beyond the common ones; unknown keys are errors. */
  readonly settings?: ZodType
  readonly policies?: Partial<EndpointPolicies>
  readonly headers?: { readonly [name: string]: string }
  /** Id of this vendor in the price data, when it differs from the slug. */
  readonly priceProvider?: string
  readonly homepage?: string
  readonly statusPage?: string
  readonly privacyPolicy?: string
  readonly termsOfService?: string
  /** Builds what differs from the default connection: base URL from settings, signing, in-process transport. */
  readonly connect?: (settings: ProviderSettings) => Partial<Pick<Connection, 'baseUrl' | 'sign' | 'headers' | 'transport' | 'scope'>>
}

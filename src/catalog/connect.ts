import { createHash } from 'node:crypto'
import { ZodObject } from 'zod'
import type { EndpointPolicies, Modality } from '../core/capability.ts'
import type { RateLimits } from '../core/endpoint.ts'
import type { Dialect } from '../core/dialect.ts'
import type { NamedProvider } from '../core/provider-names.ts'
import { DEFAULT_TIMEOUTS, type Connection, type Provider } from '../core/provider.ts'
import { isMetadataAddress } from '../lib/address-class.ts'
import { closest } from '../lib/closest.ts'
import { defined } from '../lib/defined.ts'
import { resolveKeys, resolveSettings, type ProviderSources, type Report } from './provider-settings.ts'

type Json = { readonly [key: string]: unknown }

/** A provider that is switched on. */
export interface ConnectedProvider {
  readonly slug: string
  readonly name: string
  /** The built-in declaration; undefined for a provider that only the configuration declares. */
  readonly provider: Provider | undefined
  /** The vendor in the declaration if the provider has another slug, because it is one of several accounts of that vendor. */
  readonly vendor: NamedProvider | undefined
  readonly policies: EndpointPolicies
  /** The rate limits of the provider, shared by all its endpoints. */
  readonly rateLimits: RateLimits | undefined
  readonly operatorPays: true | undefined
  /** Whether ids outside the catalog are served; if undefined, this depends on whether the configuration lists models of the provider. */
  readonly open: boolean | undefined
  /** Whether the provider can be asked for embeddings, and for anything else. */
  readonly embeds: 'never' | 'too' | 'only'
  /**
   * The connection for a model. `options` override those of the provider; both override the options implied by the kinds of input that an operator
   * `listed`. Reports invalid options, and a request for embeddings from a provider that makes none.
   */
  readonly connectionFor: (
    upstreamModel: string,
    options: Json,
    report: Report,
    answers?: 'text' | 'embeddings',
    listed?: readonly Modality[],
  ) => Connection | undefined
}

/** The author whose models a provider serves first-hand: its vendor, whatever the account. */
export const authorOf = ({ slug, provider }: Pick<ConnectedProvider, 'slug' | 'provider'>): string =>
  provider?.models?.author ?? provider?.slug ?? slug

/** Unknown policies default to the cautious ones: the vendor keeps prompts and forbids training on its output. */
const CAUTIOUS: EndpointPolicies = { dataCollection: 'allow', zdr: false, distillable: false }

/**
 * Merges the declaration, configuration and environment of one provider. Undefined if something essential is missing or wrong, which is then
 * reported.
 */
export function connectProvider(sources: ProviderSources, dialects: ReadonlyMap<string, Dialect>, report: Report): ConnectedProvider | undefined {
  const { provider, config } = sources
  const slug = config?.slug ?? provider?.slug ?? ''
  const vendor = config?.vendor
  const name = config?.name ?? nameOf(slug, vendor, provider)
  const dialect = resolveDialect(sources, dialects, report)
  const base = dialect === undefined ? undefined : notAtMetadata(resolveBase(sources, slug, name, report), report)
  if (dialect === undefined || base === undefined) return undefined
  const embedder = embedderOf(dialect, sources, dialects)
  const connectionFor = createConnections(base, dialect, embedder, sources, dialects)
  // Reports wrong options at the start, even if no model uses them.
  if (connectionFor('', {}, report) === undefined) return undefined
  const policies = { ...CAUTIOUS, ...provider?.policies, ...config?.policies }
  return {
    slug,
    name,
    provider,
    vendor: vendor === undefined || provider === undefined ? undefined : { slug: provider.slug, name: provider.name },
    policies,
    rateLimits: config?.rateLimits,
    operatorPays: base.shared.operatorPays,
    open: isOpen(sources),
    embeds: embedsAt(dialect, embedder),
    connectionFor,
  }
}

/** Several accounts of a vendor have distinct names. */
const nameOf = (slug: string, vendor: string | undefined, provider: Provider | undefined): string =>
  provider === undefined ? slug : vendor === undefined ? provider.name : `${provider.name} (${slug})`

const isOpen = ({ provider, config }: ProviderSources): boolean | undefined =>
  config?.open ?? (provider === undefined ? undefined : (provider.models?.open ?? true))

function embedsAt(main: Dialect, embedder: Dialect | undefined): ConnectedProvider['embeds'] {
  if (embedder === undefined) return 'never'
  return embedder === main ? 'only' : 'too'
}

/** The dialect for embeddings requests to a provider. */
function embedderOf(main: Dialect, { provider, config }: ProviderSources, dialects: ReadonlyMap<string, Dialect>): Dialect | undefined {
  if (main.answers === 'embeddings') return main
  const declared = config?.dialect === undefined ? provider?.embeddings : undefined
  return dialects.get(declared ?? main.embeddings ?? '')
}

function resolveDialect({ provider, config }: ProviderSources, dialects: ReadonlyMap<string, Dialect>, report: Report): Dialect | undefined {
  const name = config?.dialect ?? provider?.dialect
  const dialect = dialects.get(name ?? '')
  if (dialect !== undefined) return dialect
  const expected = `expected one of: ${[...dialects.keys()].join(', ')}`
  if (name === undefined) report('dialect', `missing; ${expected} (only built-in providers need none; signalbox check --providers lists them)`)
  else report('dialect', `${JSON.stringify(name)} is not available in this version; ${expected}`)
  return undefined
}

interface ConnectionBase {
  readonly shared: Omit<Connection, 'dialect' | 'options'>
  /** Base URLs of dialects that have another one. */
  readonly baseUrls: { readonly [dialect: string]: string }
  /** Base URLs of models that have another one. */
  readonly baseUrlFor: ((upstreamModel: string) => string | undefined) | undefined
}

/** The parts of a connection that do not depend on the model. */
function resolveBase(sources: ProviderSources, slug: string, name: string, report: Report): ConnectionBase | undefined {
  const { provider, config } = sources
  const apiKeys = resolveKeys(sources, report)
  const resolved = resolveSettings(sources, apiKeys ?? [], report)
  if (apiKeys === undefined || resolved === undefined) return undefined
  const connected = resolved.connectable ? (provider?.connect?.(resolved.settings) ?? {}) : {}
  const baseUrl = resolved.settings.baseUrl ?? connected.baseUrl ?? provider?.baseUrl
  if (baseUrl === undefined) {
    report('base_url', 'missing; expected an http or https URL up to and including the version, such as https://api.example.com/v1')
    return undefined
  }
  const shared = {
    provider: slug,
    providerName: name,
    baseUrl,
    credentials: apiKeys.map((secret, index) => ({ id: `${slug}#${index}`, secret })),
    scope: hidden(connected.scope ?? scopeOf(slug, baseUrl, config?.organization)),
    timeouts: { ...DEFAULT_TIMEOUTS, ...config?.timeouts },
    headers: { ...lowerCased(provider?.headers), ...lowerCased(connected.headers), ...lowerCased(config?.headers) },
    secrets: secretsAmong(config?.headers),
    ...defined({
      operatorPays: operatorPays(apiKeys, config, connected.sign),
      traceContext: config?.traceContext,
      sign: connected.sign,
      transport: connected.transport,
    }),
  }
  return { shared, baseUrls: connected.baseUrls ?? {}, baseUrlFor: connected.baseUrlFor }
}

const scopeOf = (slug: string, baseUrl: string, organization: string | undefined): string =>
  [slug, URL.parse(baseUrl)?.origin, organization].filter(Boolean).join('@')

/** As the names of all other headers of a request are written: of two that differ in case, both would be sent. */
const lowerCased = (headers: { readonly [name: string]: string } = {}): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Headers that identify the client and the content, and carry no credential. */
const PLAIN_HEADERS = /^(?:accept|content-type|user-agent|(?:http-)?referer|x-title)$/i

/** Headers in which servers take keys. */
const KEY_HEADER = /auth|key|token|secret|cookie/i

/** Where keys are sent as `authorization`, a caller's own key replaces what the operator has configured there. Elsewhere it goes beside it. */
const operatorPays = (apiKeys: readonly unknown[], config: ProviderSources['config'], sign: Connection['sign']): true | undefined =>
  (apiKeys.length === 0 &&
    Object.keys(config?.headers ?? {}).some((name) => KEY_HEADER.test(name) && (sign !== undefined || name.toLowerCase() !== 'authorization'))) ||
  undefined

const secretsAmong = (headers: { readonly [name: string]: string } = {}): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) => (PLAIN_HEADERS.test(name) ? [] : [value]))

/**
 * The operator is trusted and names are not resolved. But no provider lives at a cloud's metadata address, so it is a mistake or somebody else's
 * choice.
 */
function notAtMetadata(base: ConnectionBase | undefined, report: Report): ConnectionBase | undefined {
  if (base === undefined) return undefined
  const wrong = [base.shared.baseUrl, ...Object.values(base.baseUrls)].find((url) => isMetadataAddress(URL.parse(url)?.hostname ?? ''))
  if (wrong === undefined) return base
  report(
    'base_url',
    `${JSON.stringify(wrong)} is a link-local or cloud metadata address, which is never allowed; expected the address of the provider`,
  )
  return undefined
}

/** Caches connections by dialect, address and options: endpoints that agree in all three share one. */
function createConnections(
  { shared, baseUrls, baseUrlFor }: ConnectionBase,
  main: Dialect,
  embedder: Dialect | undefined,
  { provider, config }: ProviderSources,
  dialects: ReadonlyMap<string, Dialect>,
): ConnectedProvider['connectionFor'] {
  const cache = new Map<string, Connection>()
  // A dialect that the operator chose is not overridden for single models.
  const dialectOf = (model: string): Dialect => dialects.get((config?.dialect === undefined && provider?.dialectFor?.(model)) || main.name) ?? main
  const embedderFor = (model: string): Dialect | undefined => {
    if (embedder === undefined || config?.dialect !== undefined) return embedder
    const named = provider?.embeddingsFor?.find(([pattern]) => pattern.test(model))?.[1]
    return dialects.get(named ?? embedder.name) ?? embedder
  }
  const optionsOf = (dialect: Dialect): Json => ({
    ...(dialect.name === provider?.dialect ? provider.options : provider?.dialectOptions?.[dialect.name]),
    ...(dialect === main ? config?.options : {}),
  })
  return (upstreamModel, options, report, answers = 'text', listed = []) => {
    const dialect = answers === 'embeddings' ? embedderFor(upstreamModel) : dialectOf(upstreamModel)
    if (dialect === undefined) {
      report('provider', `${shared.providerName} speaks ${main.name} and makes no embeddings that could be asked for`)
      return undefined
    }
    const baseUrl = baseUrlFor?.(upstreamModel) ?? (dialect === main ? undefined : baseUrls[dialect.name])
    const merged: Json = { ...impliedBy(listed, dialect), ...optionsOf(dialect), ...options }
    const key = `${dialect.name} ${baseUrl ?? ''} ${JSON.stringify(merged)}`
    const known = cache.get(key)
    if (known !== undefined) return known
    const parsed = dialect.options.safeParse(merged)
    if (parsed.success) {
      const connection: Connection = { ...shared, ...defined({ baseUrl }), dialect, options: parsed.data }
      cache.set(key, connection)
      return connection
    }
    for (const issue of parsed.error.issues) {
      if (issue.code !== 'unrecognized_keys') report(`options.${issue.path.join('.')}`, issue.message)
      else for (const option of issue.keys) report(`options.${option}`, unknownOption(option, dialect))
    }
    return undefined
  }
}

const impliedBy = (listed: readonly Modality[], dialect: Dialect): Json =>
  Object.fromEntries(listed.flatMap((kind) => Object.entries(dialect.listed?.[kind] ?? {})))

function unknownOption(option: string, { name, options }: Dialect): string {
  const nearest = options instanceof ZodObject ? closest(option, Object.keys(options.shape)) : undefined
  return `unknown option of the dialect ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}

/** Scopes reach callers inside the reasoning that they receive. Hashed, they tell parties apart and reveal nothing of addresses and accounts. */
const hidden = (scope: string): string => createHash('sha256').update(scope).digest('base64url').slice(0, 16)

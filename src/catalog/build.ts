import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import type { Config, ModelConfig, ProviderConfig } from '../core/config.ts'
import type { Dialect } from '../core/dialect.ts'
import type { Catalog, Model } from '../core/endpoint.ts'
import type { Provider } from '../core/provider.ts'
import { closest, closestByWords } from '../lib/closest.ts'
import { defined } from '../lib/defined.ts'
import { isQuoted } from '../lib/is-quoted.ts'
import { baseUrlNotes } from './base-url-notes.ts'
import { canonicalName, makerOf } from './canonical-slug.ts'
import { checkNames, type NamingConfig } from './configured-names.ts'
import { authorOf, connectProvider, type ConnectedProvider } from './connect.ts'
import { endpointFromConfig, endpointFromDeclaration, endpointFromPrices, priceVendorOf } from './endpoints.ts'
import { createLookup } from './lookup.ts'
import { ModelDraft } from './model-draft.ts'
import { createOpenModels } from './open-model.ts'
import { EMPTY_PRICE_BOOK, loadPriceBook, type PriceBook } from './price-book.ts'
import { isOnByEnv, type Env, type Report } from './provider-settings.ts'
import { howToSwitchOn, switchOnOf } from './switch-on.ts'

/** The part of the configuration from which a catalog is built. */
export type CatalogConfig = Pick<Config, 'catalog'> & NamingConfig & { readonly file?: string }

/** A provider that is on, in the shape of the public list. */
export interface CatalogProvider {
  readonly slug: string
  readonly name: string
  readonly homepage?: string
  readonly privacyPolicy?: string
  readonly termsOfService?: string
  readonly statusPage?: string
  /** For all requests, also for those with a caller's own key. */
  readonly operatorPays?: true
}

export interface BuiltCatalog extends Catalog {
  readonly providers: readonly CatalogProvider[]
  /**
   * For the start-up log: providers that were left out because the environment configures only half of them, and configured names that nobody serves
   * now.
   */
  readonly notes: readonly string[]
}

export interface BuildOptions {
  /** Milliseconds; decides which dated price applies. */
  readonly now?: number
}

/**
 * Builds the immutable view of all models: built-in providers that the configuration or the environment switches on, with models and prices from the
 * maintained price data, overridden and extended by the configuration's own models. Providers that are off cost no time. Throws ConfigError with
 * every contradiction.
 */
export async function buildCatalog(
  config: CatalogConfig,
  providers: readonly Provider[],
  dialects: ReadonlyMap<string, Dialect>,
  env: Env,
  options: BuildOptions = {},
): Promise<BuiltCatalog> {
  const problems: ConfigProblem[] = []
  const notes: string[] = []
  const connected = connectAll(config, providers, dialects, env, problems, notes)
  for (const entry of connected.values()) notes.push(...baseUrlNotes(entry), ...quotedKey(entry))
  for (const entry of config.providers) notes.push(...idleRegion(entry, connected.get(entry.slug)))
  const book = needsPrices(config, connected) ? await loadPriceBook(options.now ?? Date.now()) : EMPTY_PRICE_BOOK
  const draft = new ModelDraft(book)
  for (const entry of connected.values()) addBuiltIn(draft, entry, book, (path, message) => problems.push({ path: `${entry.slug}.${path}`, message }))
  addConfigured(draft, config, providers, connected, book, problems)
  const models = draft.finish()
  checkAliases(models, config.models, problems)
  const homesOf = (author: string): readonly string[] => [...connected.values()].filter(isOf(author)).map(({ slug }) => slug)
  const catalog = createLookup({ models, openModel: createOpenModels({ config, connected, models, book }), makerOf, homesOf })
  // Names can only be judged against a complete catalog, and one with problems is incomplete.
  if (problems.length === 0) {
    const names = checkNames(config, catalog)
    problems.push(...names.problems)
    notes.push(...names.notes)
  }
  if (problems.length > 0) throw new ConfigError(problems, config.file)
  const offBy = (name: string): readonly string[] => sentencesOn(name, config, providers, connected, env)
  const off = (name: string): readonly string[] => [...new Set([name, makerOf(name) ?? name].flatMap(offBy))]
  return Object.freeze({ ...catalog, off, providers: [...connected.values()].map(toPublic).toSorted((a, b) => (a.slug < b.slug ? -1 : 1)), notes })
}

/** Whether a provider belongs to an author. */
const isOf =
  (author: string) =>
  (connected: Pick<ConnectedProvider, 'slug' | 'provider'>): boolean =>
    authorOf(connected) === author

/** A note on a key that no vendor has made: every call would be refused with it. */
function quotedKey({ slug, connectionFor }: ConnectedProvider): readonly string[] {
  const credentials = connectionFor('', {}, () => undefined)?.credentials ?? []
  if (!credentials.some(({ secret }) => isQuoted(secret.reveal()))) return []
  return [`${slug} has a key in quotation marks, which are sent as a part of it: leave them out (docker --env-file, for one, keeps them)`]
}

/** A note on a region that nothing reads: whoever names one may well mean where data are stored. */
function idleRegion({ slug, settings }: ProviderConfig, connected: ConnectedProvider | undefined): readonly string[] {
  if (settings['region'] === undefined || connected === undefined || connected.provider?.settings !== undefined) return []
  return [`the region of ${slug} has no effect: the provider has no such setting, its base_url says where requests go`]
}

const SENTENCES = 3

/** Sentences on how to switch on the providers that are off and have this name, or to which the author's models belong. */
function sentencesOn(
  name: string,
  config: CatalogConfig,
  providers: readonly Provider[],
  connected: ReadonlyMap<string, ConnectedProvider>,
  env: Env,
): readonly string[] {
  return providers
    .filter(({ slug, models }) => !connected.has(slug) && (slug === name || models?.author === name))
    .slice(0, SENTENCES)
    .map((one) => `${one.slug} is known but off: ${howToSwitchOn(one, env, config)}.`)
}

function connectAll(
  config: CatalogConfig,
  providers: readonly Provider[],
  dialects: ReadonlyMap<string, Dialect>,
  env: Env,
  problems: ConfigProblem[],
  notes: string[],
): ReadonlyMap<string, ConnectedProvider> {
  const known = new Map(providers.map((provider) => [provider.slug, provider]))
  const connected = new Map<string, ConnectedProvider>()
  for (const [index, entry] of config.providers.entries()) {
    if (!entry.enabled) continue
    const wrong = entry.vendor === undefined ? misspelt(entry, known) : misnamedAccount(entry.slug, entry.vendor, known)
    if (wrong !== undefined) {
      problems.push({ path: `providers[${index}].${wrong.path}`, message: wrong.message })
      continue
    }
    const result = connectProvider({ provider: declarationOf(entry, known), config: entry, env }, dialects, (path, message) =>
      problems.push({ path: `providers[${index}].${path}`, message }),
    )
    if (result !== undefined) connected.set(entry.slug, result)
  }
  const mentioned = new Set(config.providers.map((entry) => entry.slug))
  for (const provider of providers) {
    if (mentioned.has(provider.slug) || !isOnByEnv(provider, env)) continue
    const result = connectProvider({ provider, config: undefined, env }, dialects, (path, message) =>
      notes.push(`${provider.slug} stays off although its variable is set: ${path}: ${message}`),
    )
    if (result !== undefined) connected.set(provider.slug, result)
  }
  return connected
}

type Known = ReadonlyMap<string, Provider>

/** A vendor's environment variables belong to its first account. Another account would otherwise be reached with the first one's key and settings. */
function declarationOf({ slug, vendor }: ProviderConfig, known: Known): Provider | undefined {
  const declared = known.get(vendor ?? slug)
  return declared === undefined || vendor === undefined ? declared : { ...declared, env: {} }
}

function misspelt({ slug, dialect }: ProviderConfig, known: Known): ConfigProblem | undefined {
  const nearest = known.has(slug) || dialect !== undefined ? undefined : nearestTo(slug, [...known.keys()])
  if (nearest === undefined) return undefined
  const message = `${JSON.stringify(slug)} is no built-in provider; did you mean ${nearest}? (any other needs a dialect and a base_url, another account of it vendor: ${nearest})`
  return { path: 'slug', message }
}

function misnamedAccount(slug: string, vendor: string, known: Known): ConfigProblem | undefined {
  if (known.has(slug))
    return { path: 'slug', message: `${JSON.stringify(slug)} is a built-in provider; expected a slug of its own for another account` }
  if (known.has(vendor)) return undefined
  const nearest = nearestTo(vendor, [...known.keys()])
  const instead = nearest === undefined ? 'expected the slug of one (signalbox check --providers lists them)' : `did you mean ${nearest}?`
  return { path: 'vendor', message: `${JSON.stringify(vendor)} is no built-in provider; ${instead}` }
}

const nearestTo = (slug: string, known: readonly string[]): string | undefined => closest(slug, known) ?? closestByWords(slug, known)

/** The price data is large, so it is not loaded at a start that needs none of it (only self-declared models, all priced). */
function needsPrices(config: CatalogConfig, connected: ReadonlyMap<string, ConnectedProvider>): boolean {
  if ([...connected.values()].some(({ provider }) => provider !== undefined && provider.keyless !== true)) return true
  return config.models.some((model) =>
    model.endpoints.some((entry) => entry.pricing === undefined || (entry.contextLength ?? model.contextLength) === undefined),
  )
}

function addBuiltIn(draft: ModelDraft, connected: ConnectedProvider, book: PriceBook, report: Report): void {
  const { provider } = connected
  for (const declared of provider?.models?.list ?? []) {
    if (declared.answers === 'embeddings' && connected.embeds === 'never') continue
    const endpoint = endpointFromDeclaration(connected, declared, report)
    if (endpoint !== undefined) draft.add(endpoint, { name: declared.name, description: declared.description })
  }
  if (provider === undefined) return
  const author = authorOf(connected)
  const vendor = priceVendorOf(connected)
  for (const priced of [...book.models(vendor), ...(connected.embeds === 'never' ? [] : book.embeddings(vendor))]) {
    if (provider.models?.exclude?.test(priced.id) === true) continue
    const { slug, variant } = canonicalName(priced.id, author, book.naming)
    const endpoint = endpointFromPrices(connected, priced, slug, variant, book, report)
    if (endpoint !== undefined) draft.add(endpoint, { name: priced.name, description: priced.description, created: priced.created })
  }
}

function addConfigured(
  draft: ModelDraft,
  config: CatalogConfig,
  providers: readonly Provider[],
  connected: ReadonlyMap<string, ConnectedProvider>,
  book: PriceBook,
  problems: ConfigProblem[],
): void {
  const off = new Set(config.providers.filter((entry) => !entry.enabled).map((entry) => entry.slug))
  const failed = new Set(config.providers.map((entry) => entry.slug))
  for (const [index, model] of config.models.entries()) {
    draft.describe(model)
    for (const [position, entry] of model.endpoints.entries()) {
      const path = `models[${index}].endpoints[${position}]`
      const [slug = ''] = entry.provider.split('/')
      const target = connected.get(slug)
      if (target === undefined) {
        // The endpoints of a provider that is switched off are left out with it. A provider with a faulty entry was reported at that entry.
        if (!off.has(slug) && !failed.has(slug)) problems.push({ path: `${path}.provider`, message: unknownProvider(slug, failed, providers) })
        continue
      }
      const endpoint = endpointFromConfig(target, model, entry, book, (option, message) => problems.push({ path: `${path}.${option}`, message }))
      if (endpoint !== undefined) draft.override(endpoint)
    }
  }
}

function unknownProvider(slug: string, configured: Iterable<string>, providers: readonly Provider[]): string {
  const builtIn = providers.find((provider) => provider.slug === slug)
  const name = JSON.stringify(slug)
  if (builtIn === undefined) {
    const nearest = nearestTo(slug, [...configured, ...providers.map((provider) => provider.slug)])
    return `${name}; ${nearest === undefined ? 'expected the slug of an entry under providers, or of a built-in provider' : `did you mean ${nearest}?`}`
  }
  const { variables } = switchOnOf(builtIn)
  return `${name} is not switched on; expected ${variables[0] ?? 'a variable'} in the environment, or an entry for it under providers`
}

function checkAliases(models: readonly Model[], configured: readonly ModelConfig[], problems: ConfigProblem[]): void {
  const taken = new Map(models.map((model) => [model.slug, model.slug]))
  for (const [index, { slug, aliases }] of configured.entries()) {
    for (const [position, alias] of aliases.entries()) {
      const owner = taken.get(alias)
      if (owner !== undefined && owner !== slug) {
        problems.push({
          path: `models[${index}].aliases[${position}]`,
          message: `${JSON.stringify(alias)}; expected a name no other model has (${owner} has it)`,
        })
      }
      taken.set(alias, slug)
    }
  }
}

function toPublic({ slug, name, provider, operatorPays }: ConnectedProvider): CatalogProvider {
  const pick = <K extends 'homepage' | 'privacyPolicy' | 'termsOfService' | 'statusPage'>(key: K) =>
    provider?.[key] === undefined ? {} : { [key]: provider[key] }
  return { slug, name, ...pick('homepage'), ...pick('privacyPolicy'), ...pick('termsOfService'), ...pick('statusPage'), ...defined({ operatorPays }) }
}

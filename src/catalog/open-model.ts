import type { Config } from '../core/config.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Endpoint, Model } from '../core/endpoint.ts'
import { canonicalName, splitVariant } from './canonical-slug.ts'
import { authorOf, type ConnectedProvider } from './connect.ts'
import { endpointForOpenId, priceVendorOf } from './endpoints.ts'
import { bareId, type PriceBook } from './price-book.ts'

export interface OpenModelOptions {
  readonly config: Pick<Config, 'catalog' | 'models'>
  readonly connected: ReadonlyMap<string, ConnectedProvider>
  /** The models of the catalog. */
  readonly models: readonly Model[]
  readonly book: PriceBook
}

/** `provider/any-id` of an open provider. A provider is open if its entry says so, or by default if the configuration lists no model of it. */
export function createOpenModels({ config, connected, models, book }: OpenModelOptions): (name: string) => Model | undefined {
  const keyOf = (provider: string, id: string): string => `${provider}/${bareAt(connected.get(provider), id)}`
  const listed = Map.groupBy(
    models.flatMap(({ endpoints }) => endpoints),
    ({ provider, upstreamModel }) => keyOf(provider, upstreamModel),
  )
  return (name) => {
    const slash = name.indexOf('/')
    const upstreamModel = name.slice(slash + 1)
    if (slash <= 0 || upstreamModel === '' || upstreamModel.length > 256 || !config.catalog.open || isClosed(name, config)) return undefined
    const { base, variant } = splitVariant(upstreamModel)
    let about: string | undefined
    const endpoints = named(name.slice(0, slash), connected)
      .filter(({ open, slug }) => open ?? !isListed(slug, config))
      .flatMap((target) => {
        const { slug } = canonicalName(bareAt(target, base), authorOf(target), book.naming)
        about ??= book.about(slug)?.name
        const same = sameAs(upstreamModel, bareAt(target, upstreamModel), listed.get(keyOf(target.slug, upstreamModel)))
        const listedAs = [...(variant === undefined ? [] : [`${slug}:${variant}`]), ...same.flatMap(namesOf)]
        const opened = endpointForOpenId(target, { name, upstreamModel, slug, listedAs }, book)
        // A variant is sold at another price.
        const plain = same.filter((endpoint) => endpoint.variant === undefined)
        return opened === undefined ? [] : asListed(opened, plain)
      })
    const [first] = endpoints
    return first === undefined ? undefined : { slug: name, name: about ?? upstreamModel, created: 0, contextLength: first.contextLength, endpoints }
  }
}

const bareAt = (target: ConnectedProvider | undefined, id: string): string => (target === undefined ? id : bareId(priceVendorOf(target), id))

/** The endpoints with this id, or else those with the same id but for a folder. In two different folders there may be two different models. */
function sameAs(id: string, bare: string, endpoints: readonly Endpoint[] = []): readonly Endpoint[] {
  const exact = endpoints.filter(({ upstreamModel }) => upstreamModel === id)
  return exact.length > 0 ? exact : endpoints.filter(({ upstreamModel }) => id === bare || upstreamModel === bare)
}

/**
 * Under another name the same endpoints have the same prices, limits, policies and options: else the name would be a way around them. `opened` remains
 * for requests that no tier was asked for, if only tiers are listed.
 */
function asListed(opened: Endpoint, listed: readonly Endpoint[]): readonly Endpoint[] {
  const { model, knownAs = [] } = opened
  const byTag = new Map<string, Endpoint>()
  // Two listed models may share one endpoint of a provider.
  for (const endpoint of listed) if (!byTag.has(endpoint.tag)) byTag.set(endpoint.tag, endpoint)
  const same = [...byTag.values()].map((endpoint) => {
    const { aliases: _, ...rest } = endpoint
    return { ...rest, id: `${model}@${endpoint.tag}#${endpoint.upstreamModel}`, model, knownAs }
  })
  return same.some(({ tier }) => tier !== 'flex' && tier !== 'priority') ? same : [opened, ...same]
}

const namesOf = (endpoint: Endpoint): readonly string[] => [endpoint.model, servedModel(endpoint), ...(endpoint.aliases ?? [])]

/** Whether a name may be served by listed endpoints only (`only_listed`), and by nobody while these are off. */
const isClosed = (name: string, { models }: OpenModelOptions['config']): boolean =>
  models.some(({ slug, onlyListed }) => onlyListed === true && slug === splitVariant(name).base)

/** The providers that a name's prefix refers to: the provider with that slug, or else all accounts of the vendor. */
function named(slug: string, connected: ReadonlyMap<string, ConnectedProvider>): readonly ConnectedProvider[] {
  const one = connected.get(slug)
  return one === undefined ? [...connected.values()].filter(({ vendor }) => vendor?.slug === slug) : [one]
}

const isListed = (slug: string, { models }: OpenModelOptions['config']): boolean =>
  models.some(({ endpoints }) => endpoints.some((entry) => entry.provider.split('/')[0] === slug))

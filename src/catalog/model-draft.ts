import type { ModelConfig } from '../core/config.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Endpoint, Model } from '../core/endpoint.ts'
import { defined } from '../lib/defined.ts'
import { splitVariant } from './canonical-slug.ts'
import { UNKNOWN_CONTEXT_LENGTH } from './endpoints.ts'
import type { PriceBook } from './price-book.ts'

interface Facts {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly created?: number | undefined
}

interface Draft {
  endpoints: readonly Endpoint[]
  facts: Facts
  config?: ModelConfig
}

/** Collects models: endpoints by slug and variant; each fact comes from the first source that has it. */
export class ModelDraft {
  readonly #book: PriceBook
  readonly #configured = new Set<Endpoint>()
  readonly #models = new Map<string, Draft>()

  constructor(book: PriceBook) {
    this.#book = book
  }

  /** One endpoint per tag: if a vendor has several ids for one model, the first counts and the others stay reachable as `provider/id`. */
  add(endpoint: Endpoint, facts: Facts): void {
    const model = this.#of(servedModel(endpoint))
    const { facts: known } = model
    model.facts = { name: known.name ?? facts.name, description: known.description ?? facts.description, created: known.created || facts.created }
    if (!model.endpoints.some((other) => other.tag === endpoint.tag)) model.endpoints = [...model.endpoints, endpoint]
  }

  /** The operator's endpoint replaces the price data's endpoint of the same tag, and comes first. */
  override(endpoint: Endpoint): void {
    const model = this.#of(servedModel(endpoint))
    const own = model.endpoints.filter((other) => other.id !== endpoint.id && (this.#configured.has(other) || other.tag !== endpoint.tag))
    this.#configured.add(endpoint)
    const split = own.findLastIndex((other) => this.#configured.has(other)) + 1
    model.endpoints = [...own.slice(0, split), endpoint, ...own.slice(split)]
  }

  describe(config: ModelConfig): void {
    this.#of(config.slug).config = config
  }

  finish(): readonly Model[] {
    const models = [...this.#models].flatMap(([slug, draft]) => {
      const endpoints = this.#served(slug, draft)
      return endpoints.length === 0 ? [] : [this.#model(slug, { ...draft, endpoints })]
    })
    return Object.freeze(models.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)))
  }

  /** What an operator configures for a model also holds for its variants. */
  #served(slug: string, { endpoints }: Draft): readonly Endpoint[] {
    const closed = this.#models.get(splitVariant(slug).base)?.config?.onlyListed === true
    return closed ? endpoints.filter((endpoint) => this.#configured.has(endpoint)) : endpoints
  }

  #model(slug: string, { endpoints, facts, config }: Draft): Model {
    const about = this.#book.about(splitVariant(slug).base)
    // If one vendor states a model's context length, the others are assumed to serve the same.
    const contexts = endpoints.map((endpoint) => endpoint.contextLength).filter((length) => length !== UNKNOWN_CONTEXT_LENGTH)
    const contextLength = config?.contextLength ?? Math.max(...(contexts.length === 0 ? [UNKNOWN_CONTEXT_LENGTH] : contexts))
    // A model's aliases also belong to its variants.
    const aliases = this.#models.get(splitVariant(slug).base)?.config?.aliases ?? []
    const informed = endpoints.map((endpoint) => ({
      ...endpoint,
      ...(endpoint.contextLength === UNKNOWN_CONTEXT_LENGTH ? { contextLength } : {}),
      ...(aliases.length === 0 ? {} : { aliases }),
    }))
    return Object.freeze({
      slug,
      name: firstOf(config?.name, about?.name, facts.name) ?? slug.slice(slug.indexOf('/') + 1),
      created: config?.created ?? (facts.created || (about?.created ?? 0)),
      contextLength,
      ...defined({ description: firstOf(config?.description, about?.description, facts.description), aliases: config?.aliases }),
      endpoints: Object.freeze(besideTiers(informed)),
    })
  }

  #of(slug: string): Draft {
    const known = this.#models.get(slug)
    if (known !== undefined) return known
    const fresh: Draft = { endpoints: [], facts: {} }
    this.#models.set(slug, fresh)
    return fresh
  }
}

/** If a provider sells a model in tiers, its other endpoints are the default tier: they do not have the price of a tier that the caller names. */
function besideTiers(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const tiered = new Set(endpoints.filter(({ tier }) => tier === 'flex' || tier === 'priority').map(({ provider }) => provider))
  if (tiered.size === 0) return endpoints
  return endpoints.map((endpoint) => (endpoint.tier === undefined && tiered.has(endpoint.provider) ? { ...endpoint, tier: 'default' } : endpoint))
}

const firstOf = (...values: readonly (string | undefined)[]): string | undefined => values.find((value) => value !== undefined)

import type { ModelConfig } from '../core/config.ts'
import type { Endpoint, Model } from '../core/endpoint.ts'
import { splitVariant } from './canonical-slug.ts'
import { UNKNOWN_CONTEXT_LENGTH } from './endpoints.ts'
import type { PriceBook } from './price-book.ts'

interface Facts {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly created?: number | undefined
}

/** Models while they are collected: endpoints by slug and variant, facts from whoever knew them first. */
export class ModelDraft {
  readonly #book: PriceBook
  readonly #configured = new Set<Endpoint>()
  readonly #models = new Map<string, { endpoints: Endpoint[]; facts: Facts; config?: ModelConfig }>()

  constructor(book: PriceBook) {
    this.#book = book
  }

  /** One endpoint per tag: of several ids a vendor has for one model the first counts, the rest stay reachable as `provider/id`. */
  add(endpoint: Endpoint, facts: Facts): void {
    const model = this.#of(keyOf(endpoint))
    const { facts: known } = model
    model.facts = { name: known.name ?? facts.name, description: known.description ?? facts.description, created: known.created || facts.created }
    if (!model.endpoints.some((other) => other.tag === endpoint.tag)) model.endpoints.push(endpoint)
  }

  /** The operator's endpoint takes the place of what the data says about the same tag, and goes first. */
  override(endpoint: Endpoint): void {
    const model = this.#of(keyOf(endpoint))
    const own = model.endpoints.filter((other) => other.id !== endpoint.id && (this.#configured.has(other) || other.tag !== endpoint.tag))
    this.#configured.add(endpoint)
    const split = own.findLastIndex((other) => this.#configured.has(other)) + 1
    model.endpoints = [...own.slice(0, split), endpoint, ...own.slice(split)]
  }

  describe(config: ModelConfig): void {
    this.#of(config.slug).config = config
  }

  finish(): readonly Model[] {
    const models = [...this.#models].flatMap(([slug, { endpoints, facts, config }]): Model[] => {
      if (endpoints.length === 0) return []
      const contexts = endpoints.map((endpoint) => endpoint.contextLength).filter((length) => length !== UNKNOWN_CONTEXT_LENGTH)
      // Where one vendor tells the window of a model, the others are taken to serve the same.
      const contextLength = config?.contextLength ?? (contexts.length === 0 ? UNKNOWN_CONTEXT_LENGTH : Math.max(...contexts))
      const about = this.#book.about(splitVariant(slug).base)
      const description = config?.description ?? about?.description ?? facts.description
      return [
        Object.freeze({
          slug,
          name: config?.name ?? about?.name ?? facts.name ?? slug.slice(slug.indexOf('/') + 1),
          ...(description === undefined ? {} : { description }),
          created: config?.created ?? (facts.created || (about?.created ?? 0)),
          contextLength,
          ...(config === undefined || config.aliases.length === 0 ? {} : { aliases: config.aliases }),
          endpoints: Object.freeze(
            endpoints.map((endpoint) => (endpoint.contextLength === UNKNOWN_CONTEXT_LENGTH ? { ...endpoint, contextLength } : endpoint)),
          ),
        }),
      ]
    })
    return Object.freeze(models.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)))
  }

  #of(slug: string) {
    const known = this.#models.get(slug)
    if (known !== undefined) return known
    const fresh: { endpoints: Endpoint[]; facts: Facts; config?: ModelConfig } = { endpoints: [], facts: {} }
    this.#models.set(slug, fresh)
    return fresh
  }
}

const keyOf = (endpoint: Endpoint): string => (endpoint.variant === undefined ? endpoint.model : `${endpoint.model}:${endpoint.variant}`)

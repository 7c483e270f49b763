import { z } from 'zod'
import { roundUsd } from '../core/cost.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import { isNameOf } from '../core/provider-names.ts'
import type { BuiltCatalog } from './build.ts'
import { presentModels } from './present.ts'
import type { PublicModel } from './public-shapes.ts'

/** Sort orders that need figures which a self-hosted gateway does not have (popularity, public benchmarks) keep the catalog's order. */
const SORTS = [
  'most-popular',
  'newest',
  'top-weekly',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'intelligence-high-to-low',
  'coding-high-to-low',
  'agentic-high-to-low',
  'design-arena-elo-high-to-low',
] as const

const names = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  )
  .meta({ type: 'string', description: 'Names joined by commas.' })
/** A parameter that may be null: in a query string an empty value or the word `null`. */
const orNull = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === 'null' ? undefined : value), schema)
/** Numbers in plain notation. Other texts that JavaScript converts to numbers (a blank, `0x10`) are more likely mistakes. */
const number = z
  .string()
  .regex(/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i, 'a number is expected')
  .transform(Number)
const integer = z
  .string()
  .regex(/^-?\d+$/, 'a whole number is expected')
  .transform(Number)
const amount = orNull(number.pipe(z.number().min(0)).optional())

const CATEGORIES = [
  'programming',
  'roleplay',
  'marketing',
  'marketing/seo',
  'technology',
  'science',
  'translation',
  'legal',
  'finance',
  'health',
  'trivia',
  'academia',
] as const
const days = orNull(integer.pipe(z.int().min(0)).optional()).describe('Whole days since the model came out; one whose day is not known is of no age.')
const UNKNOWN = 'Without effect: the gateway keeps no such figures.'
const figure = amount.describe(UNKNOWN)
const share = orNull(number.pipe(z.number().min(0).max(1)).optional()).describe(UNKNOWN)

/**
 * Query of `GET /models`. Filters without data behind them (categories, benchmarks) are validated and change nothing, because clients send them to
 * every server.
 */
export const modelsQuery = z.looseObject({
  offset: orNull(integer.pipe(z.int().min(0)).optional()),
  limit: integer.pipe(z.int().min(1).max(1_000)).optional().describe('500 where only `offset` is given; without either the list comes whole.'),
  supported_parameters: names.optional(),
  input_modalities: names.optional(),
  output_modalities: names
    .optional()
    .describe('`text` where it is left out; `embeddings` are the models of `POST /api/v1/embeddings`, `all` is all of them.'),
  model_authors: names.optional(),
  providers: names.optional(),
  q: z.string().optional(),
  context: integer.pipe(z.int().min(1)).optional(),
  min_price: amount,
  max_price: amount,
  min_output_price: amount,
  max_output_price: amount,
  min_age_days: days,
  max_age_days: days,
  arch: z.string().optional().describe('`architecture.tokenizer`, in any case.'),
  region: z.enum(['eu', 'us']).optional().describe('Models with an endpoint whose own `region` is in it.'),
  category: z.enum(CATEGORIES).optional().describe(UNKNOWN),
  min_intelligence_index: figure,
  max_intelligence_index: figure,
  min_coding_index: figure,
  max_coding_index: figure,
  min_agentic_index: figure,
  max_agentic_index: figure,
  min_tool_success_rate: share,
  max_tool_success_rate: share,
  zdr: z.literal('true').optional(),
  distillable: z.enum(['true', 'false']).optional(),
  sort: z.enum(SORTS).optional(),
})
type ModelsQuery = z.output<typeof modelsQuery>

export interface ModelsPage {
  readonly data: readonly PublicModel[]
  readonly total_count: number
  readonly links: { readonly next: string | null }
}

const PAGE = 500

/** Whether the caller may use an endpoint. */
export type MayUse = (endpoint: Endpoint) => boolean

/**
 * The models that match the query string (all of them, unless it asks for a page), without models that have no endpoint for which `mayUse` holds.
 * Prices in the query are USD per million tokens. Throws GatewayError `invalid_request` naming the first parameter that is wrong.
 */
export function listModels(catalog: BuiltCatalog, search: URLSearchParams, mayUse?: MayUse, now = Date.now()): ModelsPage {
  const query = parseQuery(search)
  const found = sortModels(selected(catalog, query, mayUse, now), query)
  const { offset = 0, limit = query.offset === undefined ? Infinity : PAGE } = query
  const end = offset + limit
  const next = new URLSearchParams(search)
  next.set('offset', String(end))
  return {
    data: found.slice(offset, end),
    total_count: found.length,
    links: { next: end < found.length ? `/api/v1/models?${next.toString()}` : null },
  }
}

/** One model in the shape of the list, by any name that a request may use for it; undefined if nobody serves it. */
export function findModel(catalog: BuiltCatalog, name: string, now = Date.now()): PublicModel | undefined {
  const models = presented(catalog, now)
  const slug = models.some(({ id }) => id === name) ? name : catalog.find(name)?.slug
  return models.find(({ id }) => id === slug)
}

/** The number of models, for `GET /models/count`. */
export function countModels(
  catalog: BuiltCatalog,
  search: URLSearchParams,
  mayUse?: MayUse,
  now = Date.now(),
): { readonly data: { readonly count: number } } {
  return { data: { count: selected(catalog, parseQuery(search), mayUse, now).length } }
}

function selected(catalog: BuiltCatalog, query: ModelsQuery, mayUse: MayUse | undefined, now: number): readonly PublicModel[] {
  const usable = (id: string): boolean => mayUse === undefined || (catalog.find(id)?.endpoints.some(mayUse) ?? true)
  return presented(catalog, now).filter((model) => matches(model, catalog, query) && isOfAge(model, query, now) && usable(model.id))
}

const presentations = new WeakMap<BuiltCatalog, { readonly day: number; readonly models: readonly PublicModel[] }>()
const DAY_MS = 86_400_000

/** Catalogs are immutable, so each is converted to the public shape once a day; a price announced for a day applies from then on. */
function presented(catalog: BuiltCatalog, now: number): readonly PublicModel[] {
  const day = Math.floor(now / DAY_MS)
  const known = presentations.get(catalog)
  if (known?.day === day) return known.models
  const models = presentModels(catalog, now)
  presentations.set(catalog, { day, models })
  return models
}

function parseQuery(search: URLSearchParams): ModelsQuery {
  const parsed = modelsQuery.safeParse(Object.fromEntries([...search].filter(([, value]) => value !== '')))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? 'query'
  throw new GatewayError('invalid_request', `${path}: ${issue?.message ?? 'not understood'}`, { path })
}

function matches(model: PublicModel, catalog: BuiltCatalog, query: ModelsQuery): boolean {
  const holds = (wanted: readonly string[] | undefined, has: readonly string[]): boolean =>
    wanted === undefined || wanted.includes('all') || wanted.every((name) => has.includes(name))
  const within = (price: string, min: number | undefined, max: number | undefined): boolean => {
    if (min === undefined && max === undefined) return true
    // The product of binary fractions may differ slightly from the listed price, so that a bound equal to the price would miss it.
    const perMillion = roundUsd(Number(price) * 1e6)
    return perMillion >= 0 && perMillion >= (min ?? 0) && perMillion <= (max ?? Infinity)
  }
  const { architecture, pricing } = model
  const text = query.q?.toLowerCase()
  return (
    holds(query.supported_parameters, model.supported_parameters) &&
    holds(query.input_modalities, architecture.input_modalities) &&
    holds(query.output_modalities ?? ['text'], architecture.output_modalities) &&
    (query.model_authors === undefined || query.model_authors.includes((model.alias_target?.slug ?? model.id).replace(/\/.*$/, ''))) &&
    (text === undefined || model.id.toLowerCase().includes(text) || model.name.toLowerCase().includes(text)) &&
    (query.context === undefined || (model.context_length ?? Infinity) >= query.context) &&
    (query.arch === undefined || architecture.tokenizer.toLowerCase() === query.arch.toLowerCase()) &&
    within(pricing.prompt, query.min_price, query.max_price) &&
    within(pricing.completion, query.min_output_price, query.max_output_price) &&
    matchesEndpoints(model, catalog, query)
  )
}

function isOfAge({ created }: PublicModel, { min_age_days: min = 0, max_age_days: max = Infinity }: ModelsQuery, now: number): boolean {
  if (min === 0 && max === Infinity) return true
  const age = Math.floor((now - created * 1_000) / DAY_MS)
  return created > 0 && age >= min && age <= max
}

/** Spellings of regions by platforms: `eu`, `eu-central-1`, `europe-west1`, `us-east5`. */
const REGIONS = { eu: /^eu(?:rope)?(?:-|$)/i, us: /^us(?:-|$)/i }

/** As in a request's preferences: a slug, a tag or a name. */
const namesProvider = (text: string, { provider, providerName, tag, vendor }: Endpoint): boolean =>
  text.toLowerCase() === tag.toLowerCase() ||
  isNameOf(text, { slug: provider, name: providerName }) ||
  (vendor !== undefined && isNameOf(text, vendor))

function matchesEndpoints(model: PublicModel, catalog: BuiltCatalog, query: ModelsQuery): boolean {
  const { providers, zdr, distillable, region } = query
  if ([providers, zdr, distillable, region].every((filter) => filter === undefined)) return true
  return (catalog.find(model.id)?.endpoints ?? []).some(
    (endpoint) =>
      (providers === undefined || providers.some((name) => namesProvider(name, endpoint))) &&
      (zdr === undefined || endpoint.policies.zdr) &&
      (distillable === undefined || endpoint.policies.distillable === (distillable === 'true')) &&
      (region === undefined || REGIONS[region].test(endpoint.region ?? '')),
  )
}

function sortModels(models: readonly PublicModel[], { sort }: ModelsQuery): readonly PublicModel[] {
  const price = (model: PublicModel): number => Number(model.pricing.prompt) + Number(model.pricing.completion)
  // Unknown prices go last in both directions.
  const ranked =
    (direction: 1 | -1) =>
    (a: PublicModel, b: PublicModel): number =>
      price(a) < 0 || price(b) < 0 ? Number(price(a) < 0) - Number(price(b) < 0) : direction * (price(a) - price(b))
  switch (sort) {
    case 'newest':
      return models.toSorted((a, b) => b.created - a.created)
    case 'pricing-low-to-high':
      return models.toSorted(ranked(1))
    case 'pricing-high-to-low':
      return models.toSorted(ranked(-1))
    case 'context-high-to-low':
      return models.toSorted((a, b) => (b.context_length ?? 0) - (a.context_length ?? 0))
    default:
      return models
  }
}

import type { MatchLogic, ModelInfo, ModelPrice, Provider as PricedVendor } from '@pydantic/genai-prices'
import { wholeDays, type PriceTier, type PriceWindow, type Pricing } from '../core/pricing.ts'
import { createNamingIndex, splitVariant, type NamingIndex } from './canonical-slug.ts'
import { hourInCache } from './data/cache-prices.ts'
import { NAMING_VENDOR } from './data/model-names.ts'
import { makesVectors } from './data/model-traits.ts'

/** One vendor's model in the price data. */
export interface PricedModel {
  /** The data's name for the model, usually the vendor's id. */
  readonly id: string
  /** The id to request from the vendor. Undefined when the data only know the names in answers. */
  readonly upstreamId: string | undefined
  readonly name?: string
  readonly description?: string
  readonly contextLength?: number
  /** Unix seconds, if an id contains a date; otherwise 0. */
  readonly created: number
  readonly pricing: Pricing
}

/** The price data, converted lazily per vendor. */
export interface PriceBook {
  readonly naming: NamingIndex
  readonly knows: (vendor: string) => boolean
  /** The chat models of a vendor; empty if the data do not know the vendor. */
  readonly models: (vendor: string) => readonly PricedModel[]
  /** The embedding models of a vendor. */
  readonly embeddings: (vendor: string) => readonly PricedModel[]
  /** Finds a model by any id of a vendor, including dated ids, aliases and ids in a folder. */
  readonly find: (vendor: string, id: string) => PricedModel | undefined
  /** What is known of a catalog slug regardless of vendor: name, description, context length. */
  readonly about: (slug: string) => PricedModel | undefined
}

/** An empty book for catalogs that need no prices, because loading the data costs more than the rest of a start. */
export const EMPTY_PRICE_BOOK: PriceBook = {
  naming: createNamingIndex([]),
  knows: () => false,
  models: () => [],
  embeddings: () => [],
  find: () => undefined,
  about: () => undefined,
}

/**
 * Loads the maintained price data that comes with the gateway. The dated prices that apply at `now` (milliseconds) are the base; later ones, and
 * prices by the hour of the day, become windows of the pricing.
 */
export async function loadPriceBook(now: number): Promise<PriceBook> {
  const data = await import('@pydantic/genai-prices')
  const vendors = new Map(((await data.waitForUpdate()) ?? []).map((vendor) => [vendor.id, vendor]))
  const converted = new WeakMap<ModelInfo, PricedModel>()
  const convert = (model: ModelInfo): PricedModel => {
    const known = converted.get(model)
    if (known !== undefined) return known
    const fresh = toPricedModel(model, now)
    converted.set(model, fresh)
    return fresh
  }
  const current = (vendor: string): readonly PricedModel[] =>
    (vendors.get(vendor)?.models ?? []).filter((model) => model.deprecated !== true).map(convert)
  const named = namesOf(vendors.get(NAMING_VENDOR))
  return {
    naming: createNamingIndex([...named.keys()]),
    knows: (vendor) => vendors.has(vendor),
    models: (vendor) => current(vendor).filter(isChat),
    embeddings: (vendor) => current(vendor).filter(isEmbedding),
    find(vendor, id) {
      if (!vendors.has(vendor)) return undefined
      const bare = bareId(vendor, id)
      const priced = (name: string) => data.calcPrice({}, name, { providerId: vendor, timestamp: new Date(now) })
      const found = priced(id) ?? (bare === id ? null : priced(bare))
      return found === null ? undefined : convert(found.model)
    },
    about(slug) {
      const model = named.get(slug)
      return model === undefined ? undefined : convert(model)
    },
  }
}

/** Folders in which vendors file their own models, as callers may write them before an id: `models/`, and those of AWS's resource names. */
const FOLDER = /^(?:.*\/)?models\/|^arn:[\w:-]*:(?:foundation-model|inference-profile)\//

/** An id without the folder or the vendor that some interfaces of the vendor want before it. Vendors take it either way, and charge the same. */
export function bareId(vendor: string, id: string): string {
  const own = `${vendor}/`
  const bare = id.replace(FOLDER, '')
  return bare.startsWith(own) ? bare.slice(own.length) : bare
}

function namesOf(vendor: PricedVendor | undefined): ReadonlyMap<string, ModelInfo> {
  const plain = (vendor?.models ?? []).filter((model) => model.id.includes('/') && !model.id.startsWith('~'))
  return new Map(
    plain.flatMap((model): [string, ModelInfo][] =>
      splitVariant(model.id).variant === undefined && !model.id.includes(':') ? [[model.id.toLowerCase(), model]] : [],
    ),
  )
}

const NOT_CHAT = /embed|whisper|transcri|moderation|realtime|rerank|(^|[-_/])(tts|ocr)([-_]|$)/i

function isChat(model: PricedModel): boolean {
  return model.upstreamId !== undefined && model.pricing.input !== undefined && model.pricing.output !== undefined && !NOT_CHAT.test(model.id)
}

const isEmbedding = ({ id, upstreamId, pricing }: PricedModel): boolean => upstreamId !== undefined && pricing.input !== undefined && makesVectors(id)

function toPricedModel(model: ModelInfo, now: number): PricedModel {
  const free = splitVariant(model.id).variant === 'free'
  return {
    id: model.id,
    upstreamId: matches(model.match, model.id)
      ? model.id
      : exactIds(model.match).toSorted((a, b) => Number(b.endsWith('latest')) - Number(a.endsWith('latest')))[0],
    ...(model.name === undefined ? {} : { name: model.name }),
    ...(model.description === undefined ? {} : { description: model.description }),
    ...(model.context_window === undefined ? {} : { contextLength: model.context_window }),
    created: dateOf(model),
    pricing: withHours({ ...(free ? { input: 0, output: 0 } : {}), ...toPricing(model.prices, now) }, hourInCache(model.id)),
  }
}

/** Adds a price for one-hour cache entries where the data only have one for minutes: charged at the price for minutes, an hour would be too cheap. */
function withHours(pricing: Pricing, timesInput: number | undefined): Pricing {
  if (timesInput === undefined) return pricing
  const hour = <P extends PriceTier | PriceWindow | Pricing>(prices: P): P =>
    prices.cacheWrite === undefined || prices.cacheWrite1h !== undefined || prices.input === undefined
      ? prices
      : { ...prices, cacheWrite1h: prices.input * timesInput }
  const { tiers, windows } = pricing
  const lists = { ...(tiers === undefined ? {} : { tiers: tiers.map(hour) }), ...(windows === undefined ? {} : { windows: windows.map(hour) }) }
  return { ...hour(pricing), ...lists }
}

/** Whether the data's rules match this id. */
function matches(logic: MatchLogic, id: string): boolean {
  if ('or' in logic) return logic.or.some((part) => matches(part, id))
  if ('and' in logic) return logic.and.every((part) => matches(part, id))
  const lower = id.toLowerCase()
  if ('equals' in logic) return lower === logic.equals.toLowerCase()
  if ('starts_with' in logic) return lower.startsWith(logic.starts_with.toLowerCase())
  if ('ends_with' in logic) return lower.endsWith(logic.ends_with.toLowerCase())
  if ('contains' in logic) return lower.includes(logic.contains.toLowerCase())
  return new RegExp(logic.regex).test(id)
}

function exactIds(logic: MatchLogic): readonly string[] {
  return 'or' in logic ? logic.or.flatMap(exactIds) : 'equals' in logic ? [logic.equals] : []
}

/** The earliest date in any spelling of the id. */
function dateOf(model: ModelInfo): number {
  const dates = [...JSON.stringify([model.id, model.match]).matchAll(/(20[12]\d)-?([01]\d)-?([0-3]\d)(?!\d)/g)]
    .map(([, year, month, day]) => Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1_000)
    .filter((seconds) => seconds > 0)
  return dates.length === 0 ? 0 : Math.min(...dates)
}

/** The data list conditional prices oldest first; the last one whose condition holds applies. */
function toPricing(prices: ModelInfo['prices'], now: number): Pricing {
  if (!Array.isArray(prices)) return flatten(prices)
  const windows: PriceWindow[] = []
  for (const { constraint, prices: entry } of prices.toReversed()) {
    const since = constraint !== undefined && 'start_date' in constraint ? Date.parse(constraint.start_date) : undefined
    if (constraint === undefined || (since !== undefined && now >= since)) {
      return windows.length === 0 ? flatten(entry) : { ...flatten(entry), windows }
    }
    if (since !== undefined) windows.push({ ...wholeDays(since), ...flatten(entry) })
    else if ('start_time' in constraint)
      windows.push({ from: secondOfDay(constraint.start_time), to: secondOfDay(constraint.end_time), ...flatten(entry) })
  }
  return flatten(prices[0]?.prices ?? {})
}

/** `16:30:00Z` or `00:30:00+08:00` as seconds since midnight UTC. */
function secondOfDay(time: string): number {
  return (Date.parse(`1970-01-02T${time}`) / 1_000) % 86_400
}

const TOKEN_PRICES = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
} as const

function flatten(prices: ModelPrice): Pricing {
  const result: { -readonly [K in keyof Pricing]: Pricing[K] } = {}
  for (const [key, source] of Object.entries(TOKEN_PRICES)) setPrice(result, key, baseOf(prices[source]))
  setPrice(result, 'inputAudio', baseOf(prices['input_audio_mtok']))
  setPrice(result, 'cacheReadAudio', baseOf(prices['cache_audio_read_mtok']))
  setPrice(result, 'inputImage', baseOf(prices['input_image_mtok']))
  setPrice(result, 'outputImage', baseOf(prices['output_image_mtok']))
  setPrice(result, 'request', perUnit(prices['requests_kcount']))
  setPrice(result, 'webSearch', perUnit(prices['web_searches_kcount']))
  const tiers = tiersOf(prices)
  if (tiers.length > 0) result.tiers = tiers
  return result
}

type Price = ModelPrice[string]

const baseOf = (price: Price): number | undefined => (typeof price === 'object' ? price.base : price)
const perUnit = (price: Price): number | undefined => {
  const base = baseOf(price)
  return base === undefined ? undefined : base / 1_000
}

function setPrice(target: object, key: string, value: number | undefined): void {
  if (value !== undefined) Object.assign(target, { [key]: value })
}

/** The highest tier reached applies alone, so each tier contains every price that is in force from its threshold on. */
function tiersOf(prices: ModelPrice): readonly PriceTier[] {
  const starts = new Set(Object.values(TOKEN_PRICES).flatMap((source) => tiersIn(prices[source]).map((tier) => tier.start)))
  return [...starts]
    .toSorted((a, b) => a - b)
    .map((start): PriceTier => {
      const tier = { fromInputTokens: start + 1 }
      for (const [key, source] of Object.entries(TOKEN_PRICES)) {
        const reached = tiersIn(prices[source])
          .filter((candidate) => candidate.start <= start)
          .toSorted((a, b) => b.start - a.start)[0]
        setPrice(tier, key, reached?.price ?? baseOf(prices[source]))
      }
      return tier
    })
}

function tiersIn(price: Price): readonly { readonly start: number; readonly price: number }[] {
  return typeof price === 'object' ? price.tiers : []
}

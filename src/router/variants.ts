import type { Catalog, Model } from '../core/endpoint.ts'
import type { SortKey } from '../core/request.ts'

/** What the suffixes of a model name ask for. */
export interface VariantEffects {
  readonly sort?: SortKey
  /** Service tier whose endpoints may compete in the sort. */
  readonly admitTier?: 'flex' | 'priority'
  /** `:online`: the web plugin runs for this call. */
  readonly online?: boolean
}

export interface ModelName {
  /** The name without its variant suffixes. */
  readonly base: string
  /** A suffix that means separate endpoints (`free`, `thinking`, `extended`). */
  readonly variant?: string
  readonly effects: VariantEffects
  /** A suffix that sorts, but means separate endpoints where the catalog lists them; and what it asks for otherwise. */
  readonly listed?: { readonly variant: string; readonly effects: VariantEffects }
  /** `~author/family-latest`. */
  readonly latest: boolean
}

const ROUTING_VARIANTS: { readonly [suffix: string]: VariantEffects } = {
  nitro: { sort: 'throughput', admitTier: 'priority' },
  floor: { sort: 'price', admitTier: 'flex' },
  exacto: { sort: 'exacto' },
  online: { online: true },
}
const CATALOG_VARIANTS = new Set(['free', 'thinking', 'extended'])
const VARIANT_IF_LISTED = 'exacto'
const NO_EFFECTS: VariantEffects = {}

/**
 * Splits `author/slug:variant:...`. Suffixes may be combined; if several sort, the last one counts. A suffix that is no variant belongs to the name
 * (`llama3:8b`).
 */
export function parseModelName(name: string): ModelName {
  let base = name
  let variant: string | undefined
  let effects = NO_EFFECTS
  let others = NO_EFFECTS
  let listed = false
  for (;;) {
    const colon = base.lastIndexOf(':')
    if (colon <= 0) break
    const suffix = base.slice(colon + 1)
    const routing = Object.hasOwn(ROUTING_VARIANTS, suffix) ? ROUTING_VARIANTS[suffix] : undefined
    if (routing !== undefined) {
      effects = { ...routing, ...effects }
      if (suffix === VARIANT_IF_LISTED) listed = true
      else others = { ...routing, ...others }
    } else if (variant === undefined && CATALOG_VARIANTS.has(suffix)) variant = suffix
    else break
    base = base.slice(0, colon)
  }
  return {
    base,
    effects,
    latest: base.startsWith('~'),
    ...(variant === undefined ? {} : { variant }),
    ...(listed && variant === undefined ? { listed: { variant: VARIANT_IF_LISTED, effects: others } } : {}),
  }
}

export interface ResolvedModel {
  /** As the caller wrote it. */
  readonly name: string
  readonly model: Model
  /** Only endpoints of this variant; undefined: endpoints without variant. `any`: the model is itself a variant. */
  readonly variant: string | undefined
  readonly anyVariant: boolean
  readonly effects: VariantEffects
  readonly via: 'slug' | 'alias' | 'latest'
}

/** Finds the model for a name: exact slug, variant, alias or `~author/family-latest` (the catalog knows the newest). */
export function resolveModel(name: string, catalog: Catalog): ResolvedModel | undefined {
  const exact = catalog.find(name)
  if (exact !== undefined && exact.slug === name) {
    return { name, model: exact, variant: undefined, anyVariant: name.includes(':'), effects: NO_EFFECTS, via: 'slug' }
  }
  // An operator's name for a model is taken as it is, whatever it ends with; in a longer name the rest is read as variants.
  if (exact !== undefined && name.includes(':') && exact.aliases?.includes(name) === true) {
    return { name, model: exact, variant: undefined, anyVariant: exact.slug.includes(':'), effects: NO_EFFECTS, via: 'alias' }
  }
  const parsed = asListed(parseModelName(name), catalog)
  const target = parsed.variant === undefined ? parsed.base : `${parsed.base}:${parsed.variant}`
  const exactly = catalog.find(target)
  const isOther = parsed.variant !== undefined && exactly?.slug.endsWith(`:${parsed.variant}`) !== true
  const model = isOther ? (variantOf(parsed.base, parsed.variant, catalog) ?? exactly) : exactly
  if (model === undefined) return undefined
  const via = parsed.latest ? 'latest' : model.slug === target || model.slug === parsed.base ? 'slug' : 'alias'
  const anyVariant = parsed.variant === undefined ? model.slug.includes(':') : model.slug.endsWith(`:${parsed.variant}`)
  return { name, model, variant: parsed.variant, anyVariant, effects: parsed.effects, via }
}

/** The name in the catalog: with a variant, where the catalog lists one that would otherwise only sort. */
function asListed(parsed: ModelName, catalog: Catalog): ModelName {
  const { base, listed } = parsed
  if (listed === undefined) return parsed
  const slug = `${catalog.find(base)?.slug ?? base}:${listed.variant}`
  // The catalog may find the model by this name, too.
  return catalog.find(slug)?.slug === slug ? { ...parsed, ...listed } : parsed
}

/** The variant of a model under another of its names; if there is none, the model itself, whose endpoints will say so. */
function variantOf(base: string, variant: string, catalog: Catalog): Model | undefined {
  const model = catalog.find(base)
  return model === undefined || model.slug === base ? model : (catalog.find(`${model.slug}:${variant}`) ?? model)
}

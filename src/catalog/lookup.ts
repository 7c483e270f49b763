import type { Catalog, Model } from '../core/endpoint.ts'
import { ROUTING_VARIANTS } from './data/model-names.ts'
import { createShortNames } from './short-names.ts'

const MAX_OPEN_MODELS = 1_000

export interface LookupInput {
  readonly models: readonly Model[]
  /** Creates the model for a name outside the catalog (`provider/any-id`); undefined if no provider accepts it. */
  readonly openModel: (name: string) => Model | undefined
  /** The author of a name that states none (`gpt-5-mini`), by its prefix. */
  readonly makerOf?: (name: string) => string | undefined
  /** Slugs of the providers that may serve an author's models even if no list has them. */
  readonly homesOf?: (author: string) => readonly string[]
}

const nobody = (): undefined => undefined
const nowhere = (): readonly string[] => []

/**
 * Finds models by slug, `:variant` name, alias, `~author/family-latest`, a name without its author and, last, by ids that open providers accept. A
 * suffix that only steers routing (`:nitro`) finds the model without it. The same name always gives the same object.
 */
export function createLookup({ models, openModel, makerOf = nobody, homesOf = nowhere }: LookupInput): Catalog {
  const bySlug = new Map(models.map((model) => [model.slug, model]))
  const byAlias = new Map(models.flatMap((model) => (model.aliases ?? []).map((alias): [string, Model] => [alias, model])))
  const opened = new Map<string, Model>()
  const byShortName = createShortNames(models, makerOf)

  const listed = (name: string): Model | undefined => bySlug.get(name) ?? byAlias.get(name) ?? opened.get(name)

  function find(requested: string): Model | undefined {
    let name = requested
    // A loop and not a recursion, because callers may send as many suffixes as fit into a body.
    for (;;) {
      const known = listed(name)
      if (known !== undefined) return known
      const colon = name.lastIndexOf(':')
      if (colon <= 0 || !ROUTING_VARIANTS.has(name.slice(colon + 1))) break
      name = name.slice(0, colon)
    }
    if (name.startsWith('~')) return newestOf(name, models)
    const model = name.includes('/') ? openModel(name) : (byShortName(name) ?? openAtHome(name))
    if (model !== undefined) {
      // Names come from callers, so the number of invented ones is bounded.
      if (opened.size >= MAX_OPEN_MODELS) opened.delete(opened.keys().next().value ?? '')
      opened.set(name, model)
    }
    return model
  }

  /** Opens the model at the first of its author's providers that accepts it. */
  function openAtHome(name: string): Model | undefined {
    const maker = makerOf(name)
    if (maker === undefined) return undefined
    for (const home of homesOf(maker)) {
      const model = find(`${home}/${name}`)
      if (model !== undefined) return model
    }
    return undefined
  }
  return Object.freeze({ find, models: () => models })
}

/** The model of the highest version among those whose slugs differ from the family's only by version, date and release words. */
function newestOf(name: string, models: readonly Model[]): Model | undefined {
  const family = /^~(.+)-latest$/.exec(name)?.[1]
  if (family === undefined) return undefined
  const members = models.filter((model) => !model.slug.includes(':') && familyOf(model.slug) === family)
  return members.toSorted(
    (a, b) => compareVersions(versionOf(b.slug), versionOf(a.slug)) || a.slug.length - b.slug.length || b.created - a.created,
  )[0]
}

const RELEASE_WORD = /^(preview|exp|experimental|beta|latest|it)$/
const VERSION_WORD = /^[a-z]?\d/

/** `anthropic/claude-opus-4.8` and `anthropic/claude-opus-5` belong to `anthropic/claude-opus`. */
function familyOf(slug: string): string {
  const slash = slug.indexOf('/') + 1
  const words = undated(slug.slice(slash))
    .split('-')
    .filter((word, index) => index === 0 || !(RELEASE_WORD.test(word) || VERSION_WORD.test(word)))
  return slug.slice(0, slash) + words.join('-')
}

/** The version numbers in a slug, without dates and sizes (`20250929`, `70b`). */
function versionOf(slug: string): readonly number[] {
  const words = undated(slug.slice(slug.indexOf('/') + 1))
    .split('-')
    .filter((word) => /^[a-z]?\d{1,2}(\.\d+)*o?$/.test(word))
  return words.flatMap((word) =>
    word
      .replace(/^[a-z]|o$/g, '')
      .split('.')
      .map(Number),
  )
}

function undated(name: string): string {
  return name.replace(/-(\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{4,8})(?=-|$)/g, '')
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? -1) - (b[i] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

import type { ConfigProblem } from '../core/config-error.ts'
import type { Config, ToolsConfig } from '../core/config.ts'
import type { Catalog, Model } from '../core/endpoint.ts'
import type { PluginsConfig } from '../core/plugins-config.ts'
import { CATALOG_VARIANTS, NAMING_VENDOR, ROUTING_VARIANTS } from './data/model-names.ts'

/** The places where a configuration names models, apart from those that it declares. */
export interface NamingConfig extends Pick<Config, 'providers' | 'models' | 'defaults'> {
  readonly tools?: Pick<ToolsConfig, 'imageModel' | 'fusionModels'>
  readonly plugins?: Pick<PluginsConfig, 'moderation' | 'codingScores'>
}

export interface CheckedNames {
  readonly problems: readonly ConfigProblem[]
  /** Entries that are valid but will not work, or do not work now. */
  readonly notes: readonly string[]
}

interface Named {
  readonly path: string
  readonly name: string
}

/** Looks up every configured model name at the start. Otherwise a call to a model that nobody serves would fail as if of a passing outage. */
export function checkNames(config: NamingConfig, catalog: Catalog): CheckedNames {
  const problems: ConfigProblem[] = []
  const notes: string[] = []
  const { model } = config.defaults
  if (model !== undefined && !isServed(model, catalog)) problems.push(unservedProblem({ path: 'defaults.model', name: model }))
  for (const named of namesOf(config)) {
    if (isServed(named.name, catalog)) continue
    const why = reasonUnserved(named.name, config)
    if (why === undefined) problems.push(unservedProblem(named))
    else notes.push(`${named.path}: ${JSON.stringify(named.name)} ${why}`)
  }
  return { problems, notes: [...notes, ...blindModel(config, catalog), ...idleScores(config, catalog)] }
}

const unservedProblem = ({ path, name }: Named): ConfigProblem => ({
  path,
  message: `${JSON.stringify(name)}; expected a model that a configured provider serves`,
})

function namesOf({ tools, plugins, defaults }: NamingConfig): readonly Named[] {
  return [
    ...namesAt('tools.image_generation.model', tools?.imageModel),
    ...namesAt('tools.fusion.models', tools?.fusionModels),
    ...namesAt('plugins.moderation.model', plugins?.moderation.model),
    ...defaults.plugins.flatMap((entry, index) =>
      entry['enabled'] === false
        ? []
        : ['model', 'analysis_models'].flatMap((setting) => namesAt(`defaults.plugins[${index}].${setting}`, entry[setting])),
    ),
  ]
}

/** Values of another type are refused by the part that reads them. */
function namesAt(path: string, value: unknown): readonly Named[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => namesAt(`${path}[${index}]`, one))
  return typeof value === 'string' ? [{ path, name: value }] : []
}

/** As the planner resolves names: suffixes that steer routing may precede one that names endpoints. */
const servedAs = (name: string, catalog: Catalog): Model | undefined => catalog.find(name) ?? catalog.find(without(ROUTING_VARIANTS, name))
const isServed = (name: string, catalog: Catalog): boolean => servedAs(name, catalog) !== undefined

function without(endings: ReadonlySet<string>, name: string): string {
  const [base = '', ...rest] = name.split(':')
  return [base, ...rest.filter((ending) => !endings.has(ending))].join(':')
}

/** The gateway's own author name, and its spelling by drop-in clients of the hosted router. */
const ROUTER_AUTHORS: ReadonlySet<string> = new Set(['gateway', NAMING_VENDOR])

/** Why a name that nobody serves is not a typing error; undefined if it probably is one. */
function reasonUnserved(name: string, config: NamingConfig): string | undefined {
  const author = name.slice(0, Math.max(0, name.indexOf('/')))
  if (ROUTER_AUTHORS.has(author) || name.includes('@preset/')) return "stands for a choice made for callers; a call of the gateway's own to it fails"
  const off = new Set(config.providers.filter((entry) => !entry.enabled).map(({ slug }) => slug))
  const base = without(CATALOG_VARIANTS, without(ROUTING_VARIANTS, name))
  const declared = config.models.find(({ slug, aliases }) => slug === base || aliases.includes(base))
  const asleep = declared?.endpoints.some(({ provider }) => off.has(provider.split('/')[0]!)) ?? off.has(author)
  return asleep ? 'is served by nobody while its provider is switched off' : undefined
}

/** The planner rejects a model whose endpoints are not known to answer with images, and only the name tells. */
function blindModel({ tools }: NamingConfig, catalog: Catalog): readonly string[] {
  const name = tools?.imageModel
  const model = name === undefined ? undefined : servedAs(name, catalog)
  if (model === undefined || model.endpoints.some(({ outputModalities }) => outputModalities.has('image'))) return []
  return [`tools.image_generation.model: ${JSON.stringify(name)} is not known to make images, as its slug has no "-image"; calls of the tool fail`]
}

const SHOWN_SCORES = 10

/** Scores are looked up by slug, and only models in the catalog are ranked. Tables of scores name many models, so they share one note. */
function idleScores({ plugins }: NamingConfig, catalog: Catalog): readonly string[] {
  const ranked = new Set(catalog.models().map(({ slug }) => slug))
  const idle = Object.keys(plugins?.codingScores ?? {}).filter((name) => !ranked.has(name))
  if (idle.length === 0) return []
  const shown = idle.slice(0, SHOWN_SCORES).map((name) => JSON.stringify(name))
  const more = idle.length > SHOWN_SCORES ? ` and ${idle.length - SHOWN_SCORES} more` : ''
  const what =
    idle.length === 1
      ? 'is no model of the catalog by its slug, and its score counts'
      : 'are no models of the catalog by their slugs, and their scores count'
  return [`plugins.pareto_router.scores: ${shown.join(', ')}${more} ${what} for nothing`]
}

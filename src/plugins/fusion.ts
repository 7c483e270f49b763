import { z } from 'zod'
import type { Catalog } from '../core/endpoint.ts'
import type { ModelChoice, Plugin, PluginContext } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import { ownName } from '../core/own-names.ts'
import type { ModelRequest } from '../core/request.ts'
import { candidatesFor, SPECIALIST, type Candidate } from './shared/candidates.ts'
import { releaseDates } from './shared/release-dates.ts'
import { routerName } from './shared/router-model.ts'

const PRESETS = ['general-high', 'general-budget', 'general-fast'] as const
type PresetName = (typeof PRESETS)[number]

const settings = z.object({
  model: z.string().min(1).optional(),
  analysis_models: z.array(z.string().min(1)).min(1).max(8).optional(),
  max_tool_calls: z.int().min(1).max(16).optional(),
  preset: z.enum(PRESETS).optional(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(8)
    .optional(),
})
type Settings = z.infer<typeof settings>

export interface FusionPluginOptions {
  readonly catalog: () => Catalog
  /** The operator's panel. */
  readonly panel: readonly string[] | undefined
}

/** Router names that stand for a panel, and the preset that each implies. */
const ROUTERS: { readonly [name: string]: PresetName | undefined } = { fusion: undefined, 'fusion-flash': 'general-fast' }
const PANEL_SIZE = 3

interface Panel {
  readonly models: readonly string[]
  /** The model that compares the answers; undefined: the model of the request. */
  readonly analyst: string | undefined
  readonly from: 'request' | 'operator' | PresetName
}

/** Gives the model a panel of other models to ask, with the tool of the same name; `gateway/fusion` also chooses the model that asks. */
export function createFusionPlugin({ catalog, panel: operators }: FusionPluginOptions): Plugin<Settings> {
  const panelFor = (request: ModelRequest, context: PluginContext<Settings>): Panel => {
    const { settings: own } = context
    const router = routerOf(context.call.request)
    const preset = own.preset ?? (router === undefined ? undefined : ROUTERS[router])
    if (own.analysis_models !== undefined && (own.model !== undefined || router === undefined))
      return { models: own.analysis_models, analyst: own.model, from: 'request' }
    if (preset === undefined && own.analysis_models === undefined && operators !== undefined)
      return { models: operators, analyst: own.model ?? (router === undefined ? undefined : operators[0]), from: 'operator' }
    const found = presetPanel(preset ?? 'general-high', request, context, catalog())
    return {
      models: own.analysis_models ?? found.models,
      analyst: own.model ?? (router === undefined && preset === undefined ? undefined : found.analyst),
      from: own.analysis_models === undefined ? (preset ?? 'general-high') : 'request',
    }
  }

  return {
    id: 'fusion',
    settings,
    implied: (request) => routerOf(request) !== undefined,
    choose(request, context): ModelChoice | undefined {
      const name = routerName(request.model)
      if (routerOf(request) === undefined || name === undefined) {
        return request.model === undefined ? undefined : { models: [request.model, ...(request.models ?? [])], strategy: 'fusion' }
      }
      const { models, analyst } = panelFor(request, context)
      const [first, ...rest] = [...new Set([analyst ?? models[0]!, ...models])].map((model) => `${model}${name.suffix}`)
      return { models: [first!, ...rest.slice(0, PANEL_SIZE - 1), ...(request.models ?? [])], strategy: 'fusion' }
    },
    preparesAlone: true,
    prepare(request, context) {
      const { settings: own } = context
      const tools = request.tools ?? []
      // The caller has configured the tool itself, and one panel is enough.
      if (tools.some(({ type }) => ownName(type) === 'fusion')) return undefined
      const { models, analyst, from } = panelFor(request, context)
      const parameters: JsonObject = {
        analysis_models: models,
        ...(analyst === undefined ? {} : { model: analyst }),
        ...(own.max_tool_calls === undefined ? {} : { max_tool_calls: own.max_tool_calls }),
        ...(own.tools === undefined ? {} : { tools: own.tools }),
      }
      const data = { panel: models, panel_from: from, ...(analyst === undefined ? {} : { analyst }) }
      context.report({ stage: { type: 'plugin', name: 'fusion', summary: `a panel of ${models.length} models may be asked`, data } })
      return { ...request, tools: [...tools, { type: typeFor(context.call.request), parameters }] }
    },
  }
}

/** The tool's type in the spelling of the model's name, so that callers get items of a type they know. */
const typeFor = (request: ModelRequest): string => `${routerOf(request) === undefined ? 'gateway' : routerName(request.model)!.author}:fusion`

function routerOf(request: ModelRequest): string | undefined {
  const name = routerName(request.model)?.name
  return name !== undefined && Object.hasOwn(ROUTERS, name) ? name : undefined
}

const REASONER = /(?:^|[/-])(?:r\d|think\w*|reason\w*|pro|opus|max|ultra)(?:-|$)/i

/**
 * One model of each of three authors. They are chosen by price, the only figure known for all models: `high` takes the newest of each author's most
 * expensive third, `budget` each author's cheapest of the cheaper half, `fast` the cheapest without reasoning. The most expensive of the `high` ones is
 * the analyst.
 */
function presetPanel(
  preset: PresetName,
  request: ModelRequest,
  context: PluginContext<Settings>,
  catalog: Catalog,
): { readonly models: readonly string[]; readonly analyst: string } {
  const emptyRequest: ModelRequest = { input: [], ...(request.provider == null ? {} : { provider: request.provider }) }
  // Cheapest first.
  const able = candidatesFor(emptyRequest, context, { catalog, tokensOf: () => 0 })
  const general = able.filter(({ model }) => !SPECIALIST.test(model.slug))
  const all = general.length > 0 ? general : able
  const best = flagships(all, releaseDates(catalog))
  const byPreset: { readonly [P in PresetName]: () => readonly Candidate[] } = {
    'general-high': () => best,
    'general-budget': () => onePerAuthor(all.slice(0, Math.ceil(all.length / 2))).toReversed(),
    'general-fast': () => {
      const quick = all.filter(({ model, endpoint }) => endpoint.reasonsByDefault !== true && !REASONER.test(model.slug))
      return onePerAuthor(quick.length > 0 ? quick : all)
    },
  }
  const models = byPreset[preset]()
    .slice(0, PANEL_SIZE)
    .map(({ model }) => model.slug)
  return { models, analyst: best[0]!.model.slug }
}

/** The newest models of each author's most expensive third, the most expensive first; if there is only one author, its newest few. */
function flagships(all: readonly Candidate[], dates: ReadonlyMap<string, number>): readonly Candidate[] {
  const newest = (list: readonly Candidate[]): readonly Candidate[] => {
    const dearest = list.slice(Math.floor((list.length * 2) / 3))
    return dearest.toSorted((a, b) => (dates.get(b.model.slug) ?? 0) - (dates.get(a.model.slug) ?? 0) || b.price - a.price)
  }
  const authors = [...Map.groupBy(all, authorOf).values()]
  const found = authors.length > 1 ? authors.map((list) => newest(list)[0]!) : newest(all)
  return found.toSorted((a, b) => b.price - a.price)
}

const authorOf = ({ model: { slug } }: Candidate): string => slug.slice(0, slug.indexOf('/'))

/** The first of each author; if there is only one author, its first few. */
function onePerAuthor(candidates: readonly Candidate[]): readonly Candidate[] {
  const authors = new Map<string, Candidate>()
  for (const one of candidates) {
    if (!authors.has(authorOf(one))) authors.set(authorOf(one), one)
  }
  return authors.size > 1 ? [...authors.values()] : candidates.slice(0, PANEL_SIZE)
}

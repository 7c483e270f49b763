import { z } from 'zod'
import { servedModel } from '../../core/endpoint-names.ts'
import type { Catalog } from '../../core/endpoint.ts'
import { GatewayError } from '../../core/error.ts'
import type { ModelChoice, Plugin, PluginContext } from '../../core/extension.ts'
import type { ModelRequest } from '../../core/request.ts'
import { candidatesFor, SPECIALIST, type Candidate } from './candidates.ts'
import { ModelMemory } from './model-memory.ts'
import { releaseDates } from './release-dates.ts'
import { routerName } from './router-model.ts'
import { classifyTask, type Task } from './task.ts'

const MAX_PATTERN_CHARS = 65_536
const patterns = z
  .array(z.string().max(1_024))
  .max(1_024)
  .refine((list) => list.reduce((sum, { length }) => sum + length, 0) <= MAX_PATTERN_CHARS, `at most ${MAX_PATTERN_CHARS} characters in all patterns`)
  .optional()
const TIERS = ['low', 'medium', 'high', 'xhigh', 'max'] as const

export const autoRouteSettings = z.object({
  allowed_models: patterns,
  excluded_models: patterns,
  cost_tier: z.enum(TIERS).optional(),
  cost_quality_tradeoff: z.int().min(0).max(10).optional(),
  pin_model: z.boolean().default(false),
})
type Settings = z.infer<typeof autoRouteSettings>

export interface AutoRouteOptions {
  /** The plugin's id; `router` is the model name it answers to. */
  readonly id: string
  readonly router: string
  readonly catalog: () => Catalog
  readonly tokensOf: (request: ModelRequest) => number
}

/** Models kept as fallbacks in case the first cannot serve. */
const MAX_CANDIDATES = 3

/**
 * Chooses a model for each request, in steps: rules determine the kind of work; the models that can do it at all are the candidates; a band of prices is
 * selected; and within it, models made for that work come first, the newest first. The stage in the record contains every step.
 */
export function createAutoRoute({ id, router, catalog, tokensOf }: AutoRouteOptions): Plugin<Settings> {
  const memory = new ModelMemory()
  const isFor = (request: ModelRequest): boolean => routerName(request.model)?.name === router
  return {
    id,
    settings: autoRouteSettings,
    implied: isFor,
    choose(request, context): ModelChoice | undefined {
      const name = routerName(request.model)
      // If the catalog has a model of this very name, the operator wants that one.
      if (name?.name !== router || context.endpointsOf({ input: [], model: request.model! }).length > 0) return undefined
      const { settings: own } = context
      const tokens = tokensOf(request)
      const task = classifyTask(request, tokens)
      const all = candidatesFor(request, context, { catalog: catalog(), tokensOf, allowed: own.allowed_models, excluded: own.excluded_models })
      const band = bandOf(all, own, task)
      const ranked = rank(band.candidates, task, releaseDates(catalog())).slice(0, MAX_CANDIDATES)
      const { pinned, candidates } = promote(ranked, all, request, context, memory)
      const [first, ...rest] = candidates.map(({ model }) => `${model.slug}${name.suffix}`)
      if (first === undefined) throw new GatewayError('not_found', 'No models match your request and model restrictions')
      const why = {
        task_type: task.type,
        difficulty: task.difficulty,
        signals: task.signals,
        cost_tier: band.name,
        cost_tier_from: band.from,
        considered: all.length,
        in_band: band.candidates.length,
        chosen_by: pinned ?? 'rank',
        models: candidates.map(({ model, price }) => ({
          model: model.slug,
          price_usd_per_million: round(price),
          reasons: reasonsFor(model.slug, task),
        })),
      }
      const summary = `${task.type} (${band.name}): ${first} of ${all.length} models`
      context.report({ stage: { type: 'plugin', name: id, summary, data: why } })
      return {
        models: [first, ...rest, ...(request.models ?? [])],
        strategy: 'auto',
        reasons: { router: { name: id, task_type: task.type, cost_tier: band.name, chosen_by: why.chosen_by } },
      }
    },
    wrap: (next, request, { call }) =>
      async function* remembering(inner) {
        yield* next(inner)
        const { served } = call.trace
        if (served !== undefined && isFor(call.request)) memory.remember(call, request, servedModel(served.endpoint))
      },
  }
}

const round = (price: number): number => Number(price.toPrecision(6))

interface Band {
  readonly name: string
  readonly from: 'request' | 'tradeoff' | 'task'
  readonly candidates: readonly Candidate[]
}

/**
 * A fifth of the candidates by price or, for the older parameter, all below a price. If a small catalog leaves a band empty, the cheaper neighbour is
 * used.
 */
function bandOf(all: readonly Candidate[], own: Settings, task: Task): Band {
  if (own.cost_tier === undefined && own.cost_quality_tradeoff !== undefined) {
    const ceiling = 90 - 8 * own.cost_quality_tradeoff
    const count = Math.max(1, Math.ceil((all.length * ceiling) / 100))
    return { name: `up to the ${ceiling}th percentile`, from: 'tradeoff', candidates: all.slice(0, count) }
  }
  const tier = own.cost_tier ?? TIERS[Math.min(task.difficulty, 2)]!
  const fifth = TIERS.indexOf(tier)
  // Candidates of equal price share a band: that of the cheapest position among them.
  const places = all.map(({ price }) => all.findIndex((other) => other.price === price))
  for (let want = fifth; want >= 0; want--) {
    const found = all.filter((_, i) => Math.min(4, Math.floor((places[i]! * 5) / all.length)) === want)
    if (found.length > 0) return { name: TIERS[want]!, from: own.cost_tier === undefined ? 'task' : 'request', candidates: found }
  }
  return { name: tier, from: 'task', candidates: all }
}

/** Words in the names of models made for one kind of work. */
const MADE_FOR: readonly (readonly [kind: string, words: RegExp])[] = [
  ['code', /(?:^|[/-])(?:\w*cod(?:e|er|ex|ing)\w*|\w*stral-code|devstral|codestral)/i],
  ['agent', /(?:^|[/-])(?:\w*agent\w*|tool\w*)/i],
  ['math', /(?:^|[/-])(?:\w*math\w*|prover\w*)/i],
  ['vision', /(?:^|[/-])(?:vision|vl|omni|pixtral)(?:-|$)/i],
  ['translation', /(?:^|[/-])(?:translat\w*|aya)/i],
]
const REASONER = /(?:^|[/-])(?:r\d|think\w*|reason\w*|deep-?think|qwq|magistral)(?:-|$)/i

function reasonsFor(slug: string, { type, difficulty }: Task): readonly string[] {
  const kind = type.split(':')[0]!
  const reasons: string[] = []
  for (const [work, words] of MADE_FOR) if (words.test(slug)) reasons.push(work === kind ? `made for ${kind}` : `made for ${work}`)
  if (REASONER.test(slug)) reasons.push(difficulty >= 1 ? 'reasons' : 'reasons, which this does not need')
  if (SPECIALIST.test(slug)) reasons.push('a specialist')
  return reasons
}

function scoreOf(slug: string, task: Task): number {
  const kind = task.type.split(':')[0]!
  let score = 0
  for (const [work, words] of MADE_FOR) if (words.test(slug)) score += work === kind ? 2 : -1
  if (REASONER.test(slug)) score += task.difficulty >= 1 ? 1 : -1
  if (SPECIALIST.test(slug)) score -= 5
  return score
}

function rank(candidates: readonly Candidate[], task: Task, dates: ReadonlyMap<string, number>): readonly Candidate[] {
  const places = candidates.map((one) => ({ one, score: scoreOf(one.model.slug, task), date: dates.get(one.model.slug) ?? 0 }))
  return places
    .sort((a, b) => b.score - a.score || b.date - a.date || a.one.price - b.one.price || (a.one.model.slug < b.one.model.slug ? -1 : 1))
    .map(({ one }) => one)
}

/** A conversation stays with its model: if the caller wants that, with any that can serve, otherwise only while it is among the best. */
function promote(
  ranked: readonly Candidate[],
  all: readonly Candidate[],
  request: ModelRequest,
  { settings: own, call }: PluginContext<Settings>,
  memory: ModelMemory,
): { readonly pinned?: string; readonly candidates: readonly Candidate[] } {
  const first = (found: Candidate): readonly Candidate[] => [found, ...ranked.filter((one) => one !== found)].slice(0, MAX_CANDIDATES)
  const last = own.pin_model ? lastModel(request) : undefined
  const wanted = last === undefined ? undefined : all.find(({ model }) => model.slug === last)
  if (wanted !== undefined) return { pinned: 'pin_model', candidates: first(wanted) }
  const known = memory.recall(call, request)
  const previous = known === undefined ? undefined : ranked.find(({ model }) => model.slug === known)
  return previous === undefined ? { candidates: ranked } : { pinned: 'conversation', candidates: first(previous) }
}

/** The model named by the last answer in the conversation. */
function lastModel({ input }: ModelRequest): string | undefined {
  const answer = input.findLast((item) => (item as { readonly role?: unknown }).role === 'assistant') as { readonly model?: unknown } | undefined
  return typeof answer?.model === 'string' ? answer.model : undefined
}

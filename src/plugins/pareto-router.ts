import { z } from 'zod'
import { servedModel } from '../core/endpoint-names.ts'
import type { Catalog } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelChoice, Plugin } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { candidatesFor, type Candidate } from './shared/candidates.ts'
import { ModelMemory } from './shared/model-memory.ts'
import { routerName } from './shared/router-model.ts'

const settings = z.object({
  min_coding_score: z.number().min(0).max(1).optional(),
  /** USD per million tokens; used instead of the score. */
  max_price: z.number().min(0).optional(),
  price_source: z.enum(['prompt', 'weighted_avg']).default('prompt'),
})
type Settings = z.infer<typeof settings>

export interface ParetoRouterOptions {
  readonly catalog: () => Catalog
  readonly tokensOf: (request: ModelRequest) => number
  /** The operator's coding scores by model, from 0 to 1. */
  readonly scores: { readonly [model: string]: number }
}

const ROUTER = 'pareto-code'
const TIERS = ['low', 'medium', 'high'] as const
type Tier = (typeof TIERS)[number]
const MAX_CANDIDATES = 3
const NOT_FOR_CODE = /(?:^|[/-])(?:guard|moderation|embed\w*|rerank\w*|ocr|tts|audio|transcrib\w*|image|safeguard|router|search|roleplay)(?:-|$)/i

interface Scored extends Candidate {
  /** From 0 to 1, 1 is best. */
  readonly score: number
  readonly cost: number
}

/**
 * `gateway/pareto-code`: a good enough model for code at the lowest price. The operator provides the scores. A catalog without scores is ordered by price,
 * because nothing else is known of all its models, and the stage in the record says so.
 */
export function createParetoRouter({ catalog, tokensOf, scores }: ParetoRouterOptions): Plugin<Settings> {
  const memory = new ModelMemory()
  const isFor = (request: ModelRequest): boolean => routerName(request.model)?.name === ROUTER
  return {
    id: 'pareto-router',
    settings,
    implied: isFor,
    choose(request, context): ModelChoice | undefined {
      const name = routerName(request.model)
      if (name?.name !== ROUTER || context.endpointsOf({ input: [], model: request.model! }).length > 0) return undefined
      const { settings: own, call } = context
      const all = candidatesFor(request, context, { catalog: catalog(), tokensOf })
      const source = all.some(({ model }) => scores[model.slug] !== undefined) ? 'configured' : 'price'
      const scored = scoreAll(all, scores, source, own.price_source)
      const picked = own.max_price === undefined ? pickTier(scored, own.min_coding_score) : pickPrice(scored, own.max_price)
      const known = memory.recall(call, request)
      const previous = picked.models.find(({ model }) => model.slug === known)
      const models = (previous === undefined ? picked.models : [previous, ...picked.models.filter((one) => one !== previous)]).slice(
        0,
        MAX_CANDIDATES,
      )
      const [first, ...rest] = models.map(({ model }) => `${model.slug}${name.suffix}`)
      if (first === undefined) throw noneWithin(own.max_price)
      const data = {
        ...picked.why,
        score_source: source,
        price_source: own.price_source,
        considered: scored.length,
        chosen_by: previous === undefined ? 'rank' : 'conversation',
        models: models.map(({ model, score, cost }) => ({
          model: model.slug,
          score: Number(score.toFixed(4)),
          price_usd_per_million: Number(cost.toPrecision(6)),
        })),
      }
      context.report({
        stage: {
          type: 'plugin',
          name: 'pareto-router',
          summary: `${first} of ${scored.length} models, scores by ${source === 'price' ? 'price' : 'the operator'}`,
          data,
        },
      })
      return {
        models: [first, ...rest, ...(request.models ?? [])],
        strategy: 'pareto',
        reasons: { router: { name: 'pareto-router', ...picked.why, score_source: source } },
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

function scoreAll(
  all: readonly Candidate[],
  scores: ParetoRouterOptions['scores'],
  source: 'configured' | 'price',
  price: Settings['price_source'],
): readonly Scored[] {
  const cost = ({ inputPrice, price: blended }: Candidate): number => (price === 'prompt' ? inputPrice : blended)
  if (source === 'configured')
    return all.flatMap((one) => (scores[one.model.slug] === undefined ? [] : [{ ...one, score: scores[one.model.slug]!, cost: cost(one) }]))
  const coders = all.filter(({ model }) => !NOT_FOR_CODE.test(model.slug))
  const ranked = coders.length > 0 ? coders : all
  // The share of models that cost no more; candidates are sorted by price.
  return ranked.map((one) => ({
    ...one,
    score: ranked.findLastIndex(({ price: other }) => other === one.price) / Math.max(1, ranked.length - 1),
    cost: cost(one),
  }))
}

interface Picked {
  readonly models: readonly Scored[]
  readonly why: { readonly [name: string]: unknown }
}

const byCost = (a: Scored, b: Scored): number => a.cost - b.cost || b.score - a.score || (a.model.slug < b.model.slug ? -1 : 1)
const tierOf = (score: number): Tier => (score >= 0.66 ? 'high' : score >= 0.33 ? 'medium' : 'low')

/** The cheapest of the tier that the score asks for; an empty tier is replaced by its neighbour. */
function pickTier(scored: readonly Scored[], least: number | undefined): Picked {
  const wanted = least === undefined ? 'high' : tierOf(least)
  const at = TIERS.indexOf(wanted)
  const order = [at, at + 1, at - 1, at + 2, at - 2].flatMap((index) => TIERS[index] ?? [])
  for (const tier of order) {
    const models = scored.filter(({ score }) => tierOf(score) === tier).toSorted(byCost)
    if (models.length > 0)
      return {
        models,
        why: { tier, ...(least === undefined ? {} : { min_coding_score: least }), ...(tier === wanted ? {} : { tier_wanted: wanted }) },
      }
  }
  return { models: [], why: { tier: wanted } }
}

/** The best affordable model that no cheaper one beats, followed by the other affordable ones. */
function pickPrice(scored: readonly Scored[], most: number): Picked {
  const affordable = scored.filter(({ cost }) => cost <= most)
  const isBeaten = (one: Scored): boolean =>
    affordable.some(
      (other) => other !== one && other.cost <= one.cost && other.score >= one.score && (other.cost < one.cost || other.score > one.score),
    )
  const frontier = affordable.filter((one) => !isBeaten(one)).toSorted((a, b) => b.score - a.score || byCost(a, b))
  const others = affordable.filter((one) => isBeaten(one)).toSorted((a, b) => b.score - a.score || byCost(a, b))
  return { models: [...frontier, ...others], why: { max_price: most, frontier: frontier.slice(0, 8).map(({ model }) => model.slug) } }
}

const noneWithin = (most: number | undefined): GatewayError =>
  new GatewayError(
    'not_found',
    most === undefined ? 'No models match your request and model restrictions' : `No model costs ${most} USD per million tokens or less`,
    {
      path: 'plugins',
    },
  )

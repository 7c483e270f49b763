import { defined } from '../../lib/defined.ts'
import type { EndpointDraft, ImportContext, ModelDraft, RateLimitsDraft } from './importer.ts'

/** One entry of the source: a model at an account, as one of the endpoints behind a name. */
export interface Deployment {
  /** The slug of its provider in our file. */
  readonly provider: string
  /** The author for ids that name none. */
  readonly author: string
  readonly upstream: string
  /** The model according to the source, if the id does not identify it. */
  readonly known?: string
  /** The share of the calls, if the source states one. */
  readonly weight?: number
  /** Lower ones come first; the others are used only while those are unavailable. */
  readonly order?: number
  readonly rateLimits: RateLimitsDraft
  readonly pricing?: { readonly [price: string]: unknown }
  readonly contextLength?: number | string
  readonly maxOutputTokens?: number | string
  readonly embeds: boolean
}

/** The deployments that callers request by one name. */
export interface Group {
  readonly name: string
  readonly deployments: readonly Deployment[]
  /** Other names of the group. */
  readonly aliases: readonly string[]
  /** Used only while none of the deployments is available. */
  readonly spares: readonly Deployment[]
}

const SLUG = /^[a-z0-9][\w.-]*\/[\w][\w.@-]*$/i

/**
 * The models for our file. A name with an author becomes the slug. Any other becomes an alias of the catalog's name of the model, so that the
 * catalog's knowledge of the model applies. `isTaken` tells which slugs are used for something else.
 */
export function modelsOf(groups: readonly Group[], context: ImportContext, isTaken: (slug: string, group: Group) => boolean): readonly ModelDraft[] {
  const names = new Set(groups.flatMap(({ name, aliases }) => [name, ...aliases]))
  const slugs = new Set<string>()
  return groups.flatMap(apart).map((group) => {
    const { name, deployments, aliases } = group
    const slug = SLUG.test(name) ? name : slugFor(group, context, (free) => slugs.has(free) || names.has(free), isTaken)
    slugs.add(slug)
    const others = [name, ...aliases].filter((alias) => alias !== slug)
    const embeds = deployments.some((one) => one.embeds)
    return {
      slug,
      ...(embeds && !context.makesVectors(slug) ? { answers: 'embeddings' as const } : {}),
      ...(others.length === 0 ? {} : { aliases: [...new Set(others)] }),
      only_listed: true as const,
      endpoints: endpointsOf(group),
    }
  })
}

/** An alias with an author may be the catalog's name of another model, so it becomes a separate model. */
function apart(group: Group): readonly Group[] {
  const authored = group.aliases.filter((alias) => SLUG.test(alias))
  const plain = { ...group, aliases: group.aliases.filter((alias) => !SLUG.test(alias)) }
  return [plain, ...authored.map((name) => ({ ...group, name, aliases: [] }))]
}

function slugFor(group: Group, context: ImportContext, isUsed: (slug: string) => boolean, isTaken: (slug: string, group: Group) => boolean): string {
  const { name, deployments } = group
  const [first] = deployments
  const { author = 'local', upstream = name, known } = first ?? {}
  const preferred = spelled(context.modelName(known ?? upstream, author))
  if (!isUsed(preferred) && !isTaken(preferred, group)) return preferred
  // No caller knows a made-up slug, so any free one will do.
  const own = spelled(`${preferred}-${name.replace(/.*\//, '')}`)
  if (!isUsed(own)) return own
  for (let count = 2; ; count++) if (!isUsed(`${own}-${count}`)) return `${own}-${count}`
}

/** Converts an id to the syntax of slugs, as vendors' ids allow more characters. */
function spelled(id: string): string {
  const slash = id.indexOf('/')
  const clean = (text: string): string => text.replace(/[^\w.@-]+/g, '-').replace(/^[^\w]+|-+$/g, '')
  return `${clean(id.slice(0, slash)).replace(/^[^a-z0-9]+/i, '') || 'local'}/${clean(id.slice(slash + 1)) || 'model'}`
}

function endpointsOf({ deployments, spares }: Group): readonly EndpointDraft[] {
  const weights = weightsOf(deployments)
  const found = new Map<string, EndpointDraft>()
  const add = (deployment: Deployment, weight: number | undefined): void => {
    const { provider, upstream, rateLimits, pricing, contextLength, maxOutputTokens } = deployment
    const key = JSON.stringify([provider, upstream])
    const twin = found.get(key)
    if (twin !== undefined && weight === 0) return
    const limits = twin === undefined ? rateLimits : summed(twin.rate_limits, rateLimits)
    found.set(key, {
      provider,
      upstream_model: upstream,
      ...defined({
        weight: twin === undefined ? weight : weight === undefined && twin.weight === undefined ? undefined : (twin.weight ?? 1) + (weight ?? 1),
        rate_limits: Object.keys(limits).length === 0 ? undefined : limits,
        pricing,
        context_length: contextLength,
        max_output_tokens: maxOutputTokens,
      }),
    })
  }
  for (const [index, deployment] of deployments.entries()) add(deployment, weights?.[index])
  for (const spare of spares) add(spare, 0)
  return [...found.values()]
}

/** The sum of the limits of a deployment that is listed twice, as each entry had its own. If one has no limit, neither has the sum. */
function summed(a: RateLimitsDraft = {}, b: RateLimitsDraft = {}): RateLimitsDraft {
  const sum = (x: number | string | undefined, y: number | string | undefined): number | string | undefined =>
    x === undefined || y === undefined ? undefined : typeof x === 'number' && typeof y === 'number' ? x + y : x
  return defined({
    requests_per_minute: sum(a.requests_per_minute, b.requests_per_minute),
    tokens_per_minute: sum(a.tokens_per_minute, b.tokens_per_minute),
    concurrent_requests: sum(a.concurrent_requests, b.concurrent_requests),
  })
}

const MOST = 1_000_000

/** Integers in the same proportions; undefined if all are equal and none has to be written. */
function weightsOf(deployments: readonly Deployment[]): readonly number[] | undefined {
  const first = Math.min(...deployments.map(({ order }) => order ?? Infinity))
  const isFirst = ({ order }: Deployment): boolean => first === Infinity || order === first
  const weighted = deployments.filter(isFirst).some(({ weight }) => weight !== undefined)
  // If some deployments have a weight, those without one get none.
  const weights = deployments.map((one) => (isFirst(one) ? (weighted ? (one.weight ?? 0) : 1) : 0))
  if (deployments.length === 1 || (weights.every((weight) => weight === weights[0]) && weights[0] !== 0)) return undefined
  return toIntegers(weights)
}

function toIntegers(weights: readonly number[]): readonly number[] {
  const scale = weights.every(Number.isInteger) ? 1 : 1_000
  const integers = weights.map((weight) => Math.round(weight * scale))
  const divisor = integers.reduce(commonDivisor, 0) || 1
  const reduced = integers.map((weight) => weight / divisor)
  const largest = Math.max(...reduced)
  // The exact proportion may need numbers that are too large; the smallest share is then at least one.
  return largest <= MOST ? reduced : reduced.map((weight) => (weight === 0 ? 0 : Math.max(1, Math.round((weight / largest) * MOST))))
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

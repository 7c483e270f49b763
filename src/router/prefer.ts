import type { Adaptation } from '../core/call.ts'
import type { Endpoint, Parameter } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelRequest, Percentiles, ProviderPreferences, SortKey } from '../core/request.ts'
import { modalityBit, parameterBit, POLICY } from './columns.ts'
import type { RequestEstimate } from './estimate.ts'
import { hostedTools, type HostedTool } from './hosted-tools.ts'
import { offersTools } from './offers-tools.ts'
import { priceMultiple } from './price-multiple.ts'

/** A parameter that the request uses; an endpoint serves it if it supports any of these. */
export interface Requirement {
  readonly name: Parameter
  readonly mask: number
}

/** Provider slugs of a preference in lower case, with both spellings of the priority tier. */
export type Slugs = ReadonlySet<string>

export interface MaxPrice {
  readonly prompt: number
  readonly completion: number
  readonly request: number
  readonly image: number
  readonly audio: number
}

/** The request and its preferences, compiled once per plan: what the filter compares endpoints with. */
export interface Demand {
  /** Why an endpoint may not serve the call, whatever was asked. */
  readonly admits?: ((endpoint: Endpoint) => string | undefined) | undefined
  /** Each list must name the endpoint: the caller's, and the workspace's or key's as a ceiling. */
  readonly only: readonly Slugs[]
  readonly ignore: Slugs | undefined
  /** Position by slug; undefined without `order`. */
  readonly order: ReadonlyMap<string, number> | undefined
  readonly orderLength: number
  readonly allowFallbacks: boolean
  readonly requireParameters: boolean
  readonly policies: number
  readonly quantizations: ReadonlySet<string> | undefined
  readonly maxPrice: MaxPrice | undefined
  /** The multiple of its list price that an endpoint may charge for the request. */
  readonly priceMultiple: (endpoint: Endpoint) => number
  readonly sort: SortKey | undefined
  /** Sort of the workspace or key; a variant's sort goes before it. */
  readonly defaultSort: SortKey | undefined
  readonly acrossModels: boolean
  readonly maxLatencyMs: Percentiles | undefined
  readonly minThroughput: Percentiles | undefined
  readonly tier: 'default' | 'flex' | 'priority' | undefined
  readonly requirements: readonly Requirement[]
  /** Parameters that choose between the endpoints of a model: tools, structured output, verbosity. The most important first. */
  readonly soft: readonly Requirement[]
  /** Vendors' tools: endpoints that support them come before those that would have to omit one. */
  readonly hosted: readonly HostedTool[]
  readonly inputs: number
  /** Modality bits that are converted for endpoints without them. */
  readonly adaptableInputs: number
  /** Tokens: prompts are shortened for windows up to this size. */
  readonly shortensUpTo: number
  readonly outputs: number
  /** The whole prompt is stored at a vendor. */
  readonly storedPrompt: boolean
  /** The answer is to be the conversation in a shorter form that only its vendor can read. */
  readonly compaction: boolean
  readonly inputTokens: number
  readonly leastTokens: number
  readonly maxOutputTokens: number
  /** Milliseconds since the epoch, because prices may depend on the hour. */
  readonly now: number
}

const requirement = (name: Parameter, ...others: Parameter[]): Requirement => ({
  name,
  mask: others.reduce((mask, other) => mask | parameterBit(other), parameterBit(name)),
})

/** Plain fields of a request that are parameters, under the same or another name. */
const FIELDS: readonly (readonly [field: string, requirement: Requirement])[] = [
  ['temperature', requirement('temperature')],
  ['top_p', requirement('top_p')],
  ['top_k', requirement('top_k')],
  ['min_p', requirement('min_p')],
  ['top_a', requirement('top_a')],
  ['presence_penalty', requirement('presence_penalty')],
  ['frequency_penalty', requirement('frequency_penalty')],
  ['repetition_penalty', requirement('repetition_penalty')],
  ['max_output_tokens', requirement('max_tokens', 'max_completion_tokens')],
  ['top_logprobs', requirement('top_logprobs', 'logprobs')],
  ['logit_bias', requirement('logit_bias')],
  ['seed', requirement('seed')],
  ['stop', requirement('stop')],
  ['prediction', requirement('prediction')],
  ['web_search_options', requirement('web_search_options')],
  ['reasoning', requirement('reasoning', 'reasoning_effort', 'include_reasoning')],
]
const LOGPROBS = requirement('logprobs', 'top_logprobs')
const TOOLS = requirement('tools')
const TOOL_CHOICE = requirement('tool_choice')
const PARALLEL_TOOL_CALLS = requirement('parallel_tool_calls')
const JSON_OBJECT = requirement('response_format', 'structured_outputs')
const JSON_SCHEMA = requirement('structured_outputs')
const VERBOSITY = requirement('verbosity')

/** Whether a field asks anything of an endpoint: an empty `reasoning` does not, nor do zero alternatives. */
function asksFor(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (field === 'top_logprobs') return value !== 0
  return field !== 'reasoning' || Object.values(value).some((option) => option !== undefined && option !== null)
}

function findRequirements(request: ModelRequest): { readonly all: readonly Requirement[]; readonly soft: readonly Requirement[] } {
  const all: Requirement[] = []
  const soft: Requirement[] = []
  for (const [field, needed] of FIELDS) if (asksFor(field, request[field])) all.push(needed)
  // Without a number, only the log probabilities of the chosen tokens are asked for.
  if (!asksFor('top_logprobs', request.top_logprobs) && request.include?.includes('message.output_text.logprobs') === true) all.push(LOGPROBS)
  if (offersTools(request)) {
    soft.push(TOOLS)
    if (request.tool_choice !== undefined && request.tool_choice !== 'auto') all.push(TOOL_CHOICE)
    // Forbidding parallel calls is a wish; allowing them is what models do anyway.
    if (request.parallel_tool_calls === false) all.push(PARALLEL_TOOL_CALLS)
  }
  const format = request.text?.format?.type
  if (format === 'json_schema') soft.push(JSON_SCHEMA)
  if (format === 'json_object') soft.push(JSON_OBJECT)
  if (request.text?.verbosity !== undefined && request.text.verbosity !== null) soft.push(VERBOSITY)
  all.push(...soft)
  return { all, soft }
}

/** In lower case; `openai/fast` and `openai/priority` are the same endpoint, so both are kept. */
function addSlug(slug: string, add: (slug: string) => void): void {
  const lower = slug.trim().toLowerCase()
  if (lower === '') return
  add(lower)
  if (lower.endsWith('/fast')) add(`${lower.slice(0, -5)}/priority`)
}

function slugs(list: readonly string[] | null | undefined): Slugs | undefined {
  if (list === null || list === undefined || list.length === 0) return undefined
  const set = new Set<string>()
  for (const slug of list) addSlug(slug, (name) => set.add(name))
  return set
}

function orderOf(list: readonly string[] | null | undefined): ReadonlyMap<string, number> | undefined {
  if (list === null || list === undefined || list.length === 0) return undefined
  const order = new Map<string, number>()
  list.forEach((slug, i) => addSlug(slug, (name) => order.has(name) || order.set(name, i)))
  return order
}

function maxPriceOf(...limits: readonly ProviderPreferences['max_price'][]): MaxPrice | undefined {
  let found = false
  const result = { prompt: Infinity, completion: Infinity, request: Infinity, image: Infinity, audio: Infinity }
  for (const limit of limits) {
    for (const kind of ['prompt', 'completion', 'request', 'image', 'audio'] as const) {
      const value = limit?.[kind]
      if (value === undefined || value === null) continue
      const price = typeof value === 'string' && value.trim() === '' ? NaN : Number(value)
      if (Number.isNaN(price) || price < 0) {
        throw new GatewayError('invalid_request', `provider.max_price.${kind} must be a price in USD, not ${JSON.stringify(value)}.`, {
          path: `provider.max_price.${kind}`,
        })
      }
      found = true
      result[kind] = Math.min(result[kind], price)
    }
  }
  return found ? result : undefined
}

/** A bare number means the median. Undefined if nothing is asked. */
function percentiles(value: number | Percentiles | null | undefined, scale: number): Percentiles | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number') return { p50: value * scale }
  const { p50, p75, p90, p99 } = value
  if (p50 == null && p75 == null && p90 == null && p99 == null) return undefined
  const scaled = (cutoff: number | null | undefined): number | null => (cutoff == null ? null : cutoff * scale)
  return { p50: scaled(p50), p75: scaled(p75), p90: scaled(p90), p99: scaled(p99) }
}

function sortOf(sort: ProviderPreferences['sort']): { readonly by: SortKey | undefined; readonly acrossModels: boolean } {
  if (sort === null || sort === undefined) return { by: undefined, acrossModels: false }
  if (typeof sort === 'string') return { by: sort, acrossModels: false }
  const acrossModels = sort.partition === 'none'
  // Sorting across models needs a measure: by default the price, as for the balance.
  return { by: sort.by ?? (acrossModels ? 'price' : undefined), acrossModels }
}

function tierOf(request: ModelRequest): Demand['tier'] {
  switch (request.service_tier) {
    case 'flex':
      return 'flex'
    case 'priority':
    case 'fast':
      return 'priority'
    case 'default':
      return 'default'
    default:
      return undefined
  }
}

function policiesOf(own: ProviderPreferences, base: ProviderPreferences): number {
  return (
    (own.data_collection === 'deny' || base.data_collection === 'deny' ? POLICY.noCollection : 0) |
    (own.zdr === true || base.zdr === true ? POLICY.zdr : 0) |
    (own.enforce_distillable_text === true || base.enforce_distillable_text === true ? POLICY.distillable : 0)
  )
}

/** The caller's value of a preference, or else the default's. */
function pick<K extends keyof ProviderPreferences>(
  own: ProviderPreferences,
  base: ProviderPreferences,
  name: K,
): NonNullable<ProviderPreferences[K]> | undefined {
  return own[name] ?? base[name] ?? undefined
}

const bitsOf = (modalities: readonly string[]): number => modalities.reduce((mask, modality) => mask | modalityBit(modality), 0)

/**
 * Merges the caller's preferences with those of key and workspace and compiles them. Restrictions add up (`only` narrows, `ignore` grows, `deny` and
 * `zdr` stay, the lower price counts); in everything else the caller replaces the default. Throws `invalid_request` for a price that is no number.
 */
export function compileDemand(
  request: ModelRequest,
  estimate: RequestEstimate,
  defaults: ProviderPreferences | null | undefined,
  now: number,
  adaptation?: Pick<Adaptation, 'modalities' | 'shortensUpTo'>,
): Demand {
  const own = request.provider ?? {}
  const base = defaults ?? {}
  const order = pick(own, base, 'order')
  const quantizations = pick(own, base, 'quantizations') ?? []
  const sort = sortOf(own.sort)
  const defaultSort = sortOf(base.sort)
  const { all, soft } = findRequirements(request)
  const window = estimate.longest ?? estimate
  return {
    only: [slugs(own.only), slugs(base.only)].filter((set) => set !== undefined),
    ignore: slugs([...(own.ignore ?? []), ...(base.ignore ?? [])]),
    order: orderOf(order),
    orderLength: order?.length ?? 0,
    allowFallbacks: pick(own, base, 'allow_fallbacks') ?? true,
    requireParameters: pick(own, base, 'require_parameters') ?? false,
    policies: policiesOf(own, base),
    quantizations: quantizations.length > 0 ? new Set(quantizations.map((name) => name.toLowerCase())) : undefined,
    maxPrice: maxPriceOf(own.max_price, base.max_price),
    priceMultiple: (endpoint) => priceMultiple(request, endpoint),
    sort: sort.by,
    defaultSort: defaultSort.by,
    acrossModels: own.sort == null ? defaultSort.acrossModels : sort.acrossModels,
    maxLatencyMs: percentiles(pick(own, base, 'preferred_max_latency'), 1000),
    minThroughput: percentiles(pick(own, base, 'preferred_min_throughput'), 1),
    tier: tierOf(request),
    requirements: all,
    soft,
    hosted: hostedTools(request),
    inputs: estimate.inputs,
    adaptableInputs: estimate.inputs === 0 || adaptation === undefined ? 0 : bitsOf(adaptation.modalities),
    shortensUpTo: adaptation?.shortensUpTo ?? 0,
    outputs: bitsOf(request.modalities ?? []),
    storedPrompt: asksStoredPrompt(request),
    compaction: asksCompaction(request),
    inputTokens: window.inputTokens,
    leastTokens: window.leastTokens,
    maxOutputTokens: request.max_output_tokens ?? 0,
    now,
  }
}

const asksStoredPrompt = ({ prompt, input }: ModelRequest): boolean => prompt != null && !input.some(({ type }) => type === 'message')

const asksCompaction = ({ input }: ModelRequest): boolean => input.at(-1)?.type === 'compaction_trigger'

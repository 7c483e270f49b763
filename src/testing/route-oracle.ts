import type { Endpoint } from '../core/endpoint.ts'
import type { ModelRequest } from '../core/request.ts'

/**
 * Which endpoints may serve a request, and in which order: written from the contract's text, rule by rule and without regard to speed, and using nothing
 * of the planner. Ignores health, sessions, own keys and measurements.
 */

export interface Group {
  /** The model's name as in the request. */
  readonly name: string
  readonly endpoints: readonly Endpoint[]
}

const ROUTING_SUFFIX = /:(?:nitro|floor|exacto|online)/g

/** The models of a request in order, each once. */
export function groupsOf({ model, models = [] }: ModelRequest, endpoints: readonly Endpoint[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const name of [...(model === undefined ? [] : [model]), ...models]) {
    const key = name.replaceAll(ROUTING_SUFFIX, '')
    const own = endpoints.filter((endpoint) => endpoint.model === key.split(':')[0])
    if (own.length > 0 && !groups.has(key)) groups.set(key, { name, endpoints: own })
  }
  return [...groups.values()]
}

const written = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
const read = (slugs: readonly string[] | null | undefined): readonly string[] => (slugs ?? []).map((slug) => slug.trim().toLowerCase())
const isTag = (slug: string, { tag, tier }: Endpoint): boolean =>
  slug === tag || (tier === 'priority' && slug.replace(/\/fast$/, '/priority') === tag.replace(/\/fast$/, '/priority'))
const isProvider = (slug: string, { provider, providerName }: Endpoint): boolean =>
  [provider, providerName.toLowerCase(), written(providerName)].includes(slug)

function isTierAsked({ service_tier: asked, provider }: ModelRequest, name: string, { tier }: Endpoint): boolean {
  if (tier === undefined) return true
  const bySuffix = !(provider?.order ?? []).length && asked !== 'default' && name.includes(tier === 'flex' ? ':floor' : ':nitro')
  return bySuffix || asked === tier || (tier === 'priority' && asked === 'fast')
}

/** A base slug matches all variants except tiers, which have to be asked for. */
const matches = (request: ModelRequest, name: string, slug: string, endpoint: Endpoint): boolean =>
  isTag(slug, endpoint) || (isTierAsked(request, name, endpoint) && isProvider(slug, endpoint))

/** Position in `provider.order`; its length for endpoints that are not in it. */
export function positionOf(request: ModelRequest, name: string, endpoint: Endpoint): number {
  const order = read(request.provider?.order)
  const at = order.findIndex((slug) => matches(request, name, slug, endpoint))
  return at === -1 ? order.length : at
}

type Support = readonly (readonly string[])[]

/** What a request uses, each with the parameters of which one suffices. */
function usesOf(request: ModelRequest): { readonly all: Support; readonly preferred: Support } {
  const { temperature, seed, max_output_tokens: limit, reasoning, tools = [], text } = request
  const preferred = [
    ...(tools.length > 0 ? [['tools']] : []),
    ...(text?.format?.type === 'json_schema' ? [['structured_outputs']] : []),
    ...(text?.format?.type === 'json_object' ? [['response_format', 'structured_outputs']] : []),
    ...(text?.verbosity == null ? [] : [['verbosity']]),
  ]
  const hard = [
    ...(temperature == null ? [] : [['temperature']]),
    ...(seed == null ? [] : [['seed']]),
    ...(limit == null ? [] : [['max_tokens', 'max_completion_tokens']]),
    ...(reasoning == null ? [] : [['reasoning', 'reasoning_effort', 'include_reasoning']]),
  ]
  return { all: [...hard, ...preferred], preferred }
}
const supports = ({ supports: known }: Endpoint, any: readonly string[]): boolean => any.some((one) => (known as ReadonlySet<string>).has(one))

/** Everything that excludes an endpoint from a call, named by the preference or limit. */
export function exclusions(request: ModelRequest, name: string, endpoint: Endpoint): ReadonlySet<string> {
  const { provider, max_output_tokens: limit } = request
  const { only, ignore, order, allow_fallbacks: fallbacks, max_price: most = null, quantizations } = provider ?? {}
  const { policies, pricing } = endpoint
  const any = (slugs: typeof only): boolean => read(slugs).some((slug) => matches(request, name, slug, endpoint))
  // If only requests have a price, tokens are free; otherwise an unknown price may be any price. A unit without a listed price is not charged.
  const unknown = pricing.request !== undefined && pricing.input === undefined && pricing.output === undefined ? 0 : Infinity
  const over = (kind: 'prompt' | 'completion' | 'request' | 'image', price: number): boolean => most?.[kind] != null && price > Number(most[kind])
  const rules: { readonly [reason: string]: boolean } = {
    variant: endpoint.variant !== (name.includes(':free') ? 'free' : undefined),
    tier: !isTierAsked(request, name, endpoint) && ![...read(only), ...read(order)].some((slug) => isTag(slug, endpoint)),
    'provider.only': (only ?? []).length > 0 && !any(only),
    'provider.ignore': read(ignore).some((slug) => isTag(slug, endpoint) || isProvider(slug, endpoint)),
    'provider.order': (order ?? []).length > 0 && fallbacks === false && !any(order),
    'provider.data_collection': provider?.data_collection === 'deny' && policies.dataCollection !== 'deny',
    'provider.zdr': provider?.zdr === true && !policies.zdr,
    'provider.enforce_distillable_text': provider?.enforce_distillable_text === true && !policies.distillable,
    'provider.quantizations': (quantizations ?? []).length > 0 && quantizations?.includes(endpoint.quantization) !== true,
    'provider.max_price.prompt': over('prompt', pricing.input ?? unknown),
    'provider.max_price.completion': over('completion', pricing.output ?? unknown),
    'provider.max_price.request': over('request', pricing.request ?? 0),
    'provider.max_price.image': over('image', pricing.image ?? 0),
    'provider.require_parameters': provider?.require_parameters === true && !usesOf(request).all.every((one) => supports(endpoint, one)),
    max_output_tokens: (limit ?? 0) > (endpoint.maxOutputTokens ?? Infinity),
  }
  return new Set(Object.keys(rules).filter((reason) => rules[reason]))
}

/** The endpoints of one model that may serve: those not excluded that support the most, and only flex endpoints if flex is asked for and available. */
export function permittedOf(request: ModelRequest, { name, endpoints }: Group): readonly Endpoint[] {
  const { preferred } = usesOf(request)
  const lacking = (endpoint: Endpoint): string => preferred.map((one) => (supports(endpoint, one) ? '0' : '1')).join('')
  const usable = endpoints.filter((endpoint) => exclusions(request, name, endpoint).size === 0)
  const least = usable.map(lacking).sort()[0]
  const best = usable.filter((endpoint) => lacking(endpoint) === least)
  const flex = request.service_tier === 'flex' ? best.filter(({ tier }) => tier === 'flex') : []
  return flex.length > 0 ? flex : best
}

/** The price by which endpoints are balanced and sorted; an unknown one counts as the most expensive of the model. */
export function pricesOf(endpoints: readonly Endpoint[]): (endpoint: Endpoint) => number {
  const price = ({ pricing: { input, output, request = 0 } }: Endpoint): number | undefined =>
    input === undefined || output === undefined ? undefined : input + output + request * 1000
  const dearest = Math.max(0, ...endpoints.map((endpoint) => price(endpoint) ?? 0)) || 1
  return (endpoint) => price(endpoint) ?? dearest
}

import type { Modality, Parameter } from '../core/capability.ts'
import type { Endpoint, Model } from '../core/endpoint.ts'
import { pricingOn, type Pricing } from '../core/pricing.ts'
import type { BuiltCatalog } from './build.ts'
import { perToken, perUnit } from './decimal.ts'
import { LATEST_FAMILIES } from './data/model-names.ts'
import { UNKNOWN_CONTEXT_LENGTH } from './endpoints.ts'
import type { Percentiles, PublicEndpoint, PublicEndpoints, PublicModel, PublicPricing, PublicProvider } from './public-shapes.ts'

/** The contract's value for an unknown price. Never "0", which would mean free. */
const UNKNOWN_PRICE = '-1'

/** The router's measurements of an endpoint; absent values are null in the answer. */
export interface EndpointStats {
  /** Milliseconds to the first token. */
  readonly latency?: Percentiles
  /** Tokens per second. */
  readonly throughput?: Percentiles
  /** 0..100, over the last five minutes, half hour and day. */
  readonly uptime5m?: number
  readonly uptime30m?: number
  readonly uptime1d?: number
  /** True while the endpoint is in cooldown after an outage. */
  readonly degraded?: boolean
}

/**
 * Every model in the shape of `GET /models`, with the operator's aliases and floating `~family-latest` names, because clients' menus offer only what
 * is listed.
 */
export function presentModels(catalog: BuiltCatalog, now = Date.now()): readonly PublicModel[] {
  const presentAlias = (id: string, target: Model, name: string): PublicModel => ({
    ...presentModel(target, now),
    id,
    canonical_slug: id,
    name,
    alias_target: { slug: target.slug, name: target.name },
  })
  const floating = LATEST_FAMILIES.flatMap((family): PublicModel[] => {
    const id = `~${family}-latest`
    const target = catalog.find(id)
    return target === undefined ? [] : [presentAlias(id, target, `${family} (latest)`)]
  })
  const models = catalog.models().flatMap((model): PublicModel[] => {
    // Variants of a model carry its aliases too, but the names refer to the model itself.
    const aliases = (model.aliases ?? []).filter((alias) => catalog.find(alias) === model)
    return [presentModel(model, now), ...aliases.map((alias) => presentAlias(alias, model, alias))]
  })
  return [...models, ...floating]
}

function presentModel(model: Model, now: number): PublicModel {
  const first = model.endpoints[0]
  const thinks = model.endpoints.every((endpoint) => endpoint.reasonsByDefault === true)
  const reasons = model.endpoints.some((endpoint) => endpoint.supports.has('reasoning'))
  return {
    id: model.slug,
    canonical_slug: model.slug,
    name: model.name,
    ...(model.description === undefined ? {} : { description: model.description }),
    created: model.created,
    context_length: knownContext(model.contextLength),
    architecture: architectureOf(model),
    pricing: presentPricing(cheapestOf(model.endpoints, now)?.pricing ?? {}, now),
    top_provider: {
      context_length: first === undefined ? null : knownContext(first.contextLength),
      max_completion_tokens: first?.maxOutputTokens ?? null,
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: unionOf(model.endpoints, (endpoint) => endpoint.supports),
    default_parameters: null,
    supported_voices: null,
    // Every effort and budget is accepted: one that an endpoint does not know becomes the nearest that it does.
    ...(reasons ? { reasoning: { mandatory: false, default_enabled: thinks, supported_efforts: null, supports_max_tokens: true } } : {}),
    links: { details: `/api/v1/models/${model.slug}/endpoints` },
  }
}

/** One model with all its endpoints, in the shape of `GET /models/{author}/{slug}/endpoints`. */
export function presentEndpoints(model: Model, stats: (endpoint: Endpoint) => EndpointStats | undefined = () => undefined): PublicEndpoints {
  return {
    id: model.slug,
    name: model.name,
    created: model.created,
    description: model.description ?? '',
    architecture: { ...architectureOf(model), instruct_type: null },
    endpoints: model.endpoints.map((endpoint) => presentEndpoint(model, endpoint, stats(endpoint) ?? {})),
  }
}

/** Without tools there is nothing to choose; with tools, `auto` always works. */
function presentToolChoice({ supports }: Endpoint): PublicEndpoint['supports_tool_choice'] {
  const chosen = supports.has('tool_choice')
  return { auto: supports.has('tools'), none: chosen, required: chosen, function: chosen }
}

function presentEndpoint(model: Model, endpoint: Endpoint, stats: EndpointStats): PublicEndpoint {
  return {
    name: `${endpoint.providerName} | ${model.slug}`,
    model_id: model.slug,
    model_name: model.name,
    context_length: endpoint.contextLength,
    pricing: presentPricing(endpoint.pricing),
    provider_name: endpoint.providerName,
    tag: endpoint.tag,
    quantization: endpoint.quantization,
    max_completion_tokens: endpoint.maxOutputTokens ?? null,
    max_prompt_tokens: null,
    supported_parameters: [...endpoint.supports],
    status: stats.degraded === true ? -1 : 0,
    uptime_last_5m: stats.uptime5m ?? null,
    uptime_last_30m: stats.uptime30m ?? null,
    uptime_last_1d: stats.uptime1d ?? null,
    supports_implicit_caching: endpoint.implicitCaching === true,
    supports_tool_choice: presentToolChoice(endpoint),
    latency_last_30m: stats.latency ?? null,
    throughput_last_30m: stats.throughput ?? null,
  }
}

/** The providers that are on, in the shape of `GET /providers`. */
export function presentProviders(catalog: BuiltCatalog): readonly PublicProvider[] {
  return catalog.providers.map((provider) => ({
    name: provider.name,
    slug: provider.slug,
    privacy_policy_url: provider.privacyPolicy ?? null,
    terms_of_service_url: provider.termsOfService ?? null,
    status_page_url: provider.statusPage ?? null,
    headquarters: null,
    datacenters: null,
  }))
}

/** Decimal strings in USD per token or unit. */
export function presentPricing(dated: Pricing, now = Date.now()): PublicPricing {
  const pricing = pricingOn(dated, now)
  // In the contract the later of several applying entries wins. Here the first window wins, tiers take precedence over windows, and higher tiers over
  // lower ones.
  const overrides = [
    ...(pricing.windows ?? []).toReversed().map((window) => ({ ...tokenPrices(window), utc_start: clock(window.from), utc_end: clock(window.to) })),
    ...(pricing.tiers ?? [])
      .toSorted((a, b) => a.fromInputTokens - b.fromInputTokens)
      .map((tier) => ({ ...tokenPrices(tier), min_prompt_tokens: tier.fromInputTokens - 1 })),
  ]
  return {
    ...tokenPrices(pricing),
    prompt: pricing.input === undefined ? UNKNOWN_PRICE : perToken(pricing.input),
    completion: pricing.output === undefined ? UNKNOWN_PRICE : perToken(pricing.output),
    ...(pricing.inputAudio === undefined ? {} : { audio: perToken(pricing.inputAudio) }),
    ...(pricing.outputImage === undefined ? {} : { image_output: perToken(pricing.outputImage) }),
    ...(pricing.request === undefined ? {} : { request: perUnit(pricing.request) }),
    ...(pricing.image === undefined ? {} : { image: perUnit(pricing.image) }),
    ...(pricing.webSearch === undefined ? {} : { web_search: perUnit(pricing.webSearch) }),
    ...(overrides.length === 0 ? {} : { overrides }),
  }
}

/** A second of the day in the contract's clock format: 1630 is half past four in the afternoon. */
const clock = (second: number): number => Math.floor(second / 3_600) * 100 + Math.floor((second % 3_600) / 60)

type TokenPrices = Pick<Pricing, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h'>

function tokenPrices(prices: TokenPrices) {
  return {
    ...(prices.input === undefined ? {} : { prompt: perToken(prices.input) }),
    ...(prices.output === undefined ? {} : { completion: perToken(prices.output) }),
    ...(prices.cacheRead === undefined ? {} : { input_cache_read: perToken(prices.cacheRead) }),
    ...(prices.cacheWrite === undefined ? {} : { input_cache_write: perToken(prices.cacheWrite) }),
    ...(prices.cacheWrite1h === undefined ? {} : { input_cache_write_1h: perToken(prices.cacheWrite1h) }),
  }
}

/** A model's price is that of its cheapest priced endpoint. Flex and priority tiers have their own endpoints and do not count. */
function cheapestOf(endpoints: readonly Endpoint[], now: number): Endpoint | undefined {
  const sum = ({ pricing }: Endpoint): number => {
    const { input, output } = pricingOn(pricing, now)
    return input === undefined || output === undefined ? Infinity : input + output
  }
  const regular = endpoints.filter((endpoint) => endpoint.tier === undefined || endpoint.tier === 'default')
  return (regular.length > 0 ? regular : endpoints).toSorted((a, b) => sum(a) - sum(b))[0]
}

function architectureOf(model: Model) {
  const inputs = unionOf(model.endpoints, (endpoint) => endpoint.inputModalities)
  const outputs = unionOf(model.endpoints, (endpoint) => endpoint.outputModalities)
  return {
    input_modalities: inputs,
    output_modalities: outputs,
    modality: `${inputs.join('+')}->${outputs.join('+')}`,
    tokenizer: TOKENIZERS.find(([pattern]) => pattern.test(model.slug))?.[1] ?? ('Other' as const),
  }
}

const TOKENIZERS = [
  [/\/(gpt|o\d|chatgpt|codex)/, 'GPT'],
  [/\/claude/, 'Claude'],
  [/\/gemini/, 'Gemini'],
  [/\/gemma/, 'Gemma'],
  [/\/grok/, 'Grok'],
  [/\/command/, 'Cohere'],
  [/\/nova/, 'Nova'],
  [/\/qwen-?3/, 'Qwen3'],
  [/\/(qwen|qwq)/, 'Qwen'],
  [/\/yi-/, 'Yi'],
  [/\/deepseek/, 'DeepSeek'],
  [/\/\w*(mistral|mixtral|stral)/, 'Mistral'],
  [/\/llama-?2/, 'Llama2'],
  [/\/llama-?3/, 'Llama3'],
  [/\/llama-?4/, 'Llama4'],
] as const

function unionOf<T extends Parameter | Modality>(endpoints: readonly Endpoint[], select: (endpoint: Endpoint) => ReadonlySet<T>): readonly T[] {
  return [...new Set(endpoints.flatMap((endpoint) => [...select(endpoint)]))]
}

function knownContext(length: number): number | null {
  return length === UNKNOWN_CONTEXT_LENGTH ? null : length
}

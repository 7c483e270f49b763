import type { Call, Owner } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Catalog, Endpoint } from '../core/endpoint.ts'
import type { Cost } from '../core/generation.ts'
import { toolsGiven, type OtherTool, type Tool } from '../core/item.ts'
import { PICTURE_TOKENS } from '../core/picture-items.ts'
import { isPerRequest, isSearchPriced, type Pricing } from '../core/pricing.ts'
import { asksForEmbeddings, MAX_TOOL_CALLS } from '../core/request.ts'
import { createUsage, MAX_TOKENS, type Usage } from '../core/usage.ts'
import { cacheAsked } from '../router/cache-marks.ts'
import type { RequestEstimate } from '../router/estimate.ts'
import { carriedTools } from '../router/hosted-tools.ts'
import { modelNames, type RoutingDefaults } from '../router/plan.ts'
import { priceMultiple } from '../router/price-multiple.ts'
import { resolveModel } from '../router/variants.ts'
import { batchesOf } from './batches.ts'

/** What a call may come to cost, before it is made. */
export interface CallPriceOptions {
  readonly catalog: () => Catalog
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  readonly policy: () => { readonly expectedOutputTokens: number }
  /** Default models, for callers who name none. */
  readonly defaults: (owner: Owner) => Pick<RoutingDefaults, 'model' | 'imageModel'>
}

/** Estimates of prompts err by about a third, and the reserved amount must suffice. */
const PROMPT_MARGIN = 1.35
/** A call without a bound on output is made if at least this much output can be paid for. */
export const LEAST_OUTPUT_TOKENS = 64
/** Endpoints whose price is considered before one is chosen. */
const MAX_PRICED = 32
/** A call is admitted at the price of endpoints that cost up to this many times the cheapest; dearer ones are checked when they are chosen. */
const ADMITTED_SPREAD = 2

export function outputTokens(options: Pick<CallPriceOptions, 'policy'>, call: Call): number {
  if (asksForEmbeddings(call.request)) return 0
  return call.request.max_output_tokens ?? options.policy().expectedOutputTokens
}

/** The same at one endpoint, where reasoning may come on top of the answer, and a picture may take more than is expected. */
export function outputAt(options: Pick<CallPriceOptions, 'policy'>, call: Call, endpoint: Endpoint): number {
  const { connection, upstreamModel, maxOutputTokens } = endpoint
  const { dialect, options: declared } = connection
  const most = dialect.mostOutput?.(call.request, { options: declared, upstreamModel, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) })
  if (most !== undefined) return most
  const wanted = outputTokens(options, call)
  return drawsFreely(call, endpoint) ? Math.max(wanted, PICTURE_TOKENS) : wanted
}

/** Whether there may be a picture, and its caller sets no bound. A part of one is paid for and is nothing. */
const drawsFreely = (call: Call, endpoint: Endpoint): boolean => call.request.max_output_tokens == null && mayDraw(call, endpoint)

const leastOutput = (call: Call, endpoint: Endpoint): number => (drawsFreely(call, endpoint) ? PICTURE_TOKENS : LEAST_OUTPUT_TOKENS)

/** A vendor's own search, in any version; searches of the gateway are paid one by one. */
const OWN_SEARCH = /^web_search/

export const isPriced = ({ pricing }: Endpoint): boolean =>
  (pricing.input !== undefined && pricing.output !== undefined) || isPerRequest(pricing, pricing)

/** What an endpoint would be paid for, or for what its tools do, at a price nobody knows; undefined where all prices are known. */
export function unpricedAt({ request }: Call, endpoint: Endpoint): string | undefined {
  if (!isPriced(endpoint)) return servedModel(endpoint)
  const {
    connection: { dialect, options },
    upstreamModel,
    pricing,
  } = endpoint
  // A search that the caller forbids is not made.
  const searches = dialect.hosts !== undefined && request.tool_choice !== 'none' && !isSearchPriced(pricing)
  // Where nothing can be bought, the history, which may be long, is not read.
  if (dialect.buys === undefined && !searches) return undefined
  const target = { options, upstreamModel }
  let others: readonly Tool[] | undefined
  // Beside some tools an endpoint cannot search, and is not asked to. Most requests have no search to ask about.
  const isSearch = (tool: Tool): boolean =>
    OWN_SEARCH.test(tool.type) && dialect.hosts?.(tool as OtherTool, (others ??= carriedTools(request.tools)), target) === true
  const bought = toolsGiven(request).find((tool) => dialect.buys?.(tool, target) === true || (searches && isSearch(tool)))
  return bought === undefined ? undefined : `${bought.type} of ${servedModel(endpoint)}`
}

/** Whether the answer of an endpoint may have pictures: where nobody says what is wanted, those that can draw do. */
const mayDraw = ({ request: { modalities } }: Call, { outputModalities }: Endpoint): boolean =>
  modalities?.includes('image') ?? outputModalities.has('image')

/** What a call may cost at an endpoint, USD. */
export function costAt(options: CallPriceOptions, call: Call, endpoint: Endpoint, estimate: RequestEstimate, output: number): number {
  return costOfTokens(options, call, endpoint, estimate, Math.min(output, endpoint.maxOutputTokens ?? Infinity))
}

/** The same for a given number of output tokens, possible or not. If pictures may come, all of them are priced as picture tokens. */
export function costOfTokens(options: CallPriceOptions, call: Call, endpoint: Endpoint, estimate: RequestEstimate, wanted: number): number {
  // Larger counts would be taken for none, and a caller asking for them would be let in for the price of the prompt.
  const produced = Math.min(wanted, MAX_TOKENS)
  const inputTokens = Math.ceil(estimate.inputTokens * PROMPT_MARGIN)
  const priceFactor = priceMultiple(call.request, endpoint)
  const audioInputTokens = estimate.audioTokens === undefined ? undefined : Math.ceil(estimate.audioTokens * PROMPT_MARGIN)
  const imageInputTokens = estimate.imageTokens === undefined ? undefined : Math.ceil(estimate.imageTokens * PROMPT_MARGIN)
  // Dividing a long list takes time that only a price per request is worth.
  const requests = endpoint.pricing.request === undefined ? undefined : batchesOf(call.request, endpoint)?.length
  const imageOutputTokens = mayDraw(call, endpoint) ? produced : undefined
  const parts = { inputTokens, audioInputTokens, imageInputTokens, outputTokens: produced, imageOutputTokens, priceFactor, requests }
  const read = options.costOf(createUsage(parts), endpoint.pricing).total
  const cacheWrites = keptTokens(call, endpoint, inputTokens)
  return cacheWrites === undefined ? read : Math.max(read, options.costOf(createUsage({ ...parts, ...cacheWrites }), endpoint.pricing).total)
}

/** Prompt tokens that may be written to a cache, at a price of its own: all of them. Undefined: none. */
function keptTokens(
  { request }: Call,
  { pricing, implicitCaching }: Endpoint,
  inputTokens: number,
): Pick<Usage, 'cacheWriteTokens' | 'cacheWrite1hTokens'> | undefined {
  if (pricing.cacheWrite === undefined && pricing.cacheWrite1h === undefined) return undefined
  const life = cacheAsked(request) ?? (implicitCaching === true ? 'minutes' : undefined)
  if (life === undefined) return undefined
  return { cacheWriteTokens: inputTokens, ...(life === 'hour' ? { cacheWrite1hTokens: inputTokens } : {}) }
}

/**
 * What the endpoint's own searches may cost, USD: as many as the caller allows, or one for each tool, because their number is not known before.
 * Without a bound of the request a tool's own goes out as it is.
 */
export function searchesAt({ request }: Call, { pricing: { webSearch } }: Endpoint): number {
  if (webSearch === undefined) return 0
  const { max_tool_calls: budget } = request
  const allowed = isBound(budget) ? Math.min(budget, MAX_TOOL_CALLS) : undefined
  let most = 0
  for (const tool of toolsGiven(request)) {
    if (!OWN_SEARCH.test(tool.type)) continue
    const { max_uses: uses } = tool as { readonly max_uses?: unknown }
    most += isBound(uses) ? uses : (allowed ?? 1)
  }
  return webSearch * Math.min(most, allowed ?? Infinity)
}

const isBound = (value: unknown): value is number => typeof value === 'number' && value >= 1

/** What must be left for a call to start; a caller who sets a bound wants all of it. */
export function leastAt(options: CallPriceOptions, call: Call, endpoint: Endpoint, estimate: RequestEstimate): number {
  return costAt(
    options,
    call,
    endpoint,
    estimate,
    call.request.max_output_tokens == null ? leastOutput(call, endpoint) : outputAt(options, call, endpoint),
  )
}

interface DoorPrice {
  readonly amount: number
  readonly least: number
}

/**
 * The price for admission, before an endpoint is chosen: the dearest endpoint of the first model that is not much dearer than its cheapest. Only an
 * attempt that is dearer still is checked again. The least that must be left is the minimum over all models named, because a budget that does not pay
 * for the first may pay for another. Unknown prices and unknown models count as free here.
 */
export function admissionPrice(options: CallPriceOptions, call: Call, estimate: RequestEstimate): DoorPrice {
  const catalog = options.catalog()
  let amount: number | undefined
  let least = Infinity
  let left = MAX_PRICED
  for (const name of modelNames(call.request, options.defaults(call.owner))) {
    const model = resolveModel(name, catalog)?.model
    if (model === undefined) continue
    const endpoints = model.endpoints.slice(0, left)
    left -= endpoints.length
    const price = priceAmong(options, call, endpoints, estimate)
    amount ??= price.amount
    least = Math.min(least, price.least)
    if (left === 0 || least === 0) break
  }
  return { amount: amount ?? 0, least: amount === undefined ? 0 : least }
}

function priceAmong(options: CallPriceOptions, call: Call, endpoints: readonly Endpoint[], estimate: RequestEstimate): DoorPrice {
  let cheapest = Infinity
  let least = Infinity
  const amounts: number[] = []
  for (const endpoint of endpoints) {
    if (!isPriced(endpoint)) continue
    const amount = costAt(options, call, endpoint, estimate, outputAt(options, call, endpoint))
    cheapest = Math.min(cheapest, amount)
    least = Math.min(least, leastAt(options, call, endpoint, estimate))
    amounts.push(amount)
  }
  if (amounts.length === 0) return { amount: 0, least: 0 }
  return { amount: Math.max(...amounts.filter((amount) => amount <= cheapest * ADMITTED_SPREAD)), least }
}

/** As much output as the granted money pays for. A call without a bound of its own gets this one, so the budget holds. */
export function boundBy(
  options: CallPriceOptions,
  call: Call,
  endpoint: Endpoint,
  estimate: RequestEstimate,
  leftUsd: number,
): { readonly maxOutputTokens: number } {
  const prompt = costOfTokens(options, call, endpoint, estimate, 0)
  // At the prices in force for a prompt of this length at this hour.
  const perMillion = costOfTokens(options, call, endpoint, estimate, 1_000_000) - prompt
  const affordable = perMillion <= 0 ? outputTokens(options, call) : Math.floor(((leftUsd - prompt) / perMillion) * 1_000_000)
  const maxOutputTokens = Math.max(leastOutput(call, endpoint), affordable)
  call.trace.params['max_output_tokens'] = `limited to ${maxOutputTokens} by what is left of the budget`
  return { maxOutputTokens }
}

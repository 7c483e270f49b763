import { announcedAt, windowAt } from '../core/pricing.ts'
import { MODALITIES, PARAMETERS, type Parameter } from '../core/capability.ts'
import type { Endpoint, Model, Pricing } from '../core/endpoint.ts'
import { vendorNames, vendorTag, writtenName } from '../core/provider-names.ts'
import { hash32 } from './hash.ts'

/**
 * The facts of a model's endpoints as columns of numbers: filtering and ranking run over them without touching an object or a set. Built once per
 * model of a catalog snapshot and dropped with it.
 */
export interface Columns {
  readonly endpoints: readonly Endpoint[]
  /** One bit per parameter, see `parameterBit`. */
  readonly supports: Int32Array
  readonly inputs: Uint8Array
  readonly outputs: Uint8Array
  /** Tokens; Infinity if unknown. */
  readonly context: Float64Array
  readonly maxOutput: Float64Array
  /** The balancing price (`balancingPrice`) of short prompts outside of special hours; NaN if unknown. */
  readonly price: Float64Array
  /** The square root of the weight in the balance; 1 unless the operator set one. */
  readonly pull: Float64Array
  /** 1 if the price depends on the prompt or the hour (`priceOf`). */
  readonly varies: Uint8Array
  /** Bits of `POLICY`. */
  readonly policies: Uint8Array
  /** 0 default, 1 flex, 2 priority. */
  readonly tier: Uint8Array
  /** Hash of the endpoint's id, for rendezvous hashing. */
  readonly hash: Uint32Array
  /** Beside the endpoints, because reading a field of a thousand objects reads a thousand places in memory. */
  readonly ids: readonly string[]
  readonly variants: readonly Endpoint['variant'][]
  /** Lower-case names by which a preference may mean the endpoint. */
  readonly tags: readonly string[]
  readonly providers: readonly string[]
  readonly names: readonly string[]
  /** The same, written like slugs. */
  readonly writtenNames: readonly string[]
  /** If it is one of several accounts: its vendor's names, and the tag it would have as the vendor's. */
  readonly vendorNames: readonly (readonly string[])[]
  readonly vendorTags: readonly (string | undefined)[]
}

export const POLICY = { noCollection: 1, zdr: 2, distillable: 4 } as const
export const TIER = { default: 0, flex: 1, priority: 2 } as const

const PARAMETER_BITS = new Map<string, number>(PARAMETERS.map((name, i) => [name, 1 << i]))
export const parameterBit = (name: Parameter): number => PARAMETER_BITS.get(name) ?? 0

const MODALITY_BITS = new Map<string, number>(MODALITIES.map((name, i) => [name, 1 << i]))
/** 0 for an unknown modality. */
export const modalityBit = (name: string): number => MODALITY_BITS.get(name) ?? 0

const cache = new WeakMap<Model, Columns>()

export function columnsOf(model: Model): Columns {
  let columns = cache.get(model)
  if (columns === undefined) cache.set(model, (columns = buildColumns(model)))
  return columns
}

function buildColumns(model: Model): Columns {
  const { endpoints } = model
  const size = endpoints.length
  const columns: Columns = {
    endpoints,
    supports: new Int32Array(size),
    inputs: new Uint8Array(size),
    outputs: new Uint8Array(size),
    context: new Float64Array(size),
    maxOutput: new Float64Array(size),
    price: new Float64Array(size),
    pull: new Float64Array(size),
    varies: new Uint8Array(size),
    policies: new Uint8Array(size),
    tier: new Uint8Array(size),
    hash: new Uint32Array(size),
    ids: endpoints.map((endpoint) => endpoint.id),
    variants: endpoints.map((endpoint) => endpoint.variant),
    tags: endpoints.map((endpoint) => normalTag(endpoint)),
    providers: endpoints.map((endpoint) => endpoint.provider.toLowerCase()),
    names: endpoints.map((endpoint) => endpoint.providerName.toLowerCase()),
    writtenNames: endpoints.map(({ provider, providerName }) => writtenName({ slug: provider, name: providerName })),
    vendorNames: endpoints.map(({ vendor }) => vendorNames(vendor)),
    vendorTags: endpoints.map((endpoint) => {
      const { provider, vendor } = endpoint
      return vendor === undefined ? undefined : vendorTag(normalTag(endpoint), provider, vendor)
    }),
  }
  endpoints.forEach((endpoint, i) => {
    for (const name of endpoint.supports) columns.supports[i]! |= parameterBit(name)
    for (const modality of endpoint.inputModalities) columns.inputs[i]! |= modalityBit(modality)
    for (const modality of endpoint.outputModalities) columns.outputs[i]! |= modalityBit(modality)
    columns.context[i] = endpoint.contextLength > 0 ? endpoint.contextLength : Infinity
    columns.maxOutput[i] = endpoint.maxOutputTokens ?? Infinity
    columns.price[i] = balancingPrice(endpoint.pricing.input, endpoint.pricing.output, endpoint.pricing.request)
    columns.pull[i] = Math.sqrt(endpoint.weight ?? 1)
    columns.varies[i] = endpoint.pricing.tiers === undefined && endpoint.pricing.windows === undefined ? 0 : 1
    const { dataCollection, zdr, distillable } = endpoint.policies
    columns.policies[i] = (dataCollection === 'deny' ? POLICY.noCollection : 0) | (zdr ? POLICY.zdr : 0) | (distillable ? POLICY.distillable : 0)
    columns.tier[i] = TIER[endpoint.tier ?? 'default']
    columns.hash[i] = hash32(endpoint.id)
  })
  return columns
}

/** `openai/fast` and `openai/priority` name the same tier. */
function normalTag(endpoint: Endpoint): string {
  const tag = endpoint.tag.toLowerCase()
  return endpoint.tier === 'priority' ? tag.replace(/\/fast$/, '/priority') : tag
}

/**
 * One figure to balance and sort by: USD for a million prompt tokens plus a million completion tokens; a price per request counts as if a request had
 * 1,000 tokens. NaN unless both token prices are known, because half a price is not a low price.
 */
function balancingPrice(input: number | undefined, output: number | undefined, request = 0): number {
  return input === undefined || output === undefined ? NaN : input + output + request * 1000
}

/** The balancing price of one endpoint for a prompt of this many tokens at this time (ms). */
export function priceOf({ price, varies, endpoints }: Columns, i: number, inputTokens: number, now: number): number {
  if (varies[i] === 0) return price[i]!
  const { pricing } = endpoints[i]!
  const { input, output } = priceAt(pricing, inputTokens, now)
  return balancingPrice(input, output, pricing.request)
}

/** The token prices for a prompt of this many tokens at this time (ms): the highest tier reached, or else the time window's, or else the base prices. */
export function priceAt(
  pricing: Pricing,
  inputTokens: number,
  now: number,
): { readonly input: number | undefined; readonly output: number | undefined } {
  const base = announcedAt(pricing, now) ?? pricing
  const window = windowAt(pricing, now)
  let input = window?.input ?? base.input
  let output = window?.output ?? base.output
  let reached = -1
  for (const tier of base.tiers ?? []) {
    if (inputTokens < tier.fromInputTokens || tier.fromInputTokens <= reached) continue
    reached = tier.fromInputTokens
    input = tier.input ?? input
    output = tier.output ?? output
  }
  return { input, output }
}

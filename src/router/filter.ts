import type { Endpoint, Model } from '../core/endpoint.ts'
import { MODALITIES } from '../core/capability.ts'
import { lackedTools, lacksTool } from './hosted-tools.ts'
import { modalityBit, POLICY, TIER } from './columns.ts'
import type { Columns } from './columns.ts'
import { describeMaxPrice, exceedsMaxPrice } from './max-price.ts'
import type { Demand, Slugs } from './prefer.ts'
import type { ResolvedModel } from './variants.ts'

/** Why an endpoint may not serve a request. Numbers, so that rejecting costs no allocation; `describeRejection` makes the sentence. */
export const REJECTION = {
  none: 0,
  variant: 1,
  only: 2,
  ignore: 3,
  order: 4,
  tierNotAsked: 5,
  flexOnly: 6,
  dataCollection: 7,
  zdr: 8,
  distillable: 9,
  quantization: 10,
  promptPrice: 11,
  completionPrice: 12,
  requestPrice: 13,
  imagePrice: 14,
  audioPrice: 15,
  parameters: 16,
  softParameters: 17,
  inputModality: 18,
  outputModality: 19,
  contextLikely: 20,
  contextCertain: 21,
  maxOutput: 22,
  fallbacksOff: 23,
  guardrail: 24,
  storedPrompt: 25,
  compaction: 26,
} as const

export type Rejection = (typeof REJECTION)[keyof typeof REJECTION]

/**
 * How strictly to filter: endpoints that take the request as it is; those that take it once it is adapted, with its prompt cut by half at most; or,
 * if a call has no others, also those whose windows are too short by the estimate but not beyond doubt, and any that prompts are shortened for.
 */
export const SLACK = { none: 0, adapted: 1, relaxed: 2 } as const

export type Slack = (typeof SLACK)[keyof typeof SLACK]

/** One model of the call, with what its name asks for. */
export interface Group {
  readonly resolved: ResolvedModel
  readonly model: Model
  readonly columns: Columns
  /** Bit per tier (`1 << TIER.flex`): tiers whose endpoints the call admits without naming them. */
  readonly tiers: number
}

export function tiersAdmitted(demand: Demand, resolved: ResolvedModel): number {
  let tiers = 0
  if (demand.tier === 'flex') tiers |= 1 << TIER.flex
  if (demand.tier === 'priority') tiers |= 1 << TIER.priority
  // A variant admits a tier to its sort; an explicit order replaces that sort, and an explicit default tier switches it off.
  const { admitTier } = resolved.effects
  if (admitTier !== undefined && demand.order === undefined && demand.tier !== 'default') tiers |= 1 << TIER[admitTier]
  return tiers
}

/** A base slug or a provider's name means all its endpoints, except tiers that the call does not admit; a full tag means one. */
function names(slugs: Slugs, columns: Columns, i: number, tierAdmitted: boolean): boolean {
  const vendorTag = columns.vendorTags[i]
  if (slugs.has(columns.tags[i]!) || (vendorTag !== undefined && slugs.has(vendorTag))) return true
  if (!tierAdmitted) return false
  if (slugs.has(columns.providers[i]!) || slugs.has(columns.names[i]!) || slugs.has(columns.writtenNames[i]!)) return true
  return columns.vendorNames[i]!.some((name) => slugs.has(name))
}

/** Position of an endpoint in `provider.order`; Infinity if it is not listed. */
export function orderPosition(demand: Demand, group: Group, i: number): number {
  const { order } = demand
  if (order === undefined) return Infinity
  const { columns } = group
  const vendorTag = columns.vendorTags[i]
  const placeOf = (name: string): number => order.get(name) ?? Infinity
  const byTag = Math.min(placeOf(columns.tags[i]!), vendorTag === undefined ? Infinity : placeOf(vendorTag))
  if (columns.tier[i] !== TIER.default && (group.tiers & (1 << columns.tier[i]!)) === 0) return byTag
  const byName = Math.min(placeOf(columns.providers[i]!), placeOf(columns.names[i]!), placeOf(columns.writtenNames[i]!))
  return Math.min(byTag, byName, ...columns.vendorNames[i]!.map(placeOf))
}

/** The first reason why this endpoint cannot serve the call, or `none`. No allocation. */
export function rejectEndpoint(demand: Demand, group: Group, i: number, slack: Slack): Rejection {
  const unnamed = rejectName(demand, group, i)
  if (unnamed !== REJECTION.none) return unnamed
  const { columns } = group
  if (demand.admits !== undefined && demand.admits(columns.endpoints[i]!) !== undefined) return REJECTION.guardrail
  const missing = demand.policies & ~columns.policies[i]!
  if (missing !== 0) return missing & POLICY.noCollection ? REJECTION.dataCollection : missing & POLICY.zdr ? REJECTION.zdr : REJECTION.distillable
  if (demand.quantizations !== undefined && !demand.quantizations.has(columns.endpoints[i]!.quantization)) return REJECTION.quantization
  if (demand.maxPrice !== undefined) {
    const tooDear = rejectPrice(demand, columns.endpoints[i]!)
    if (tooDear !== REJECTION.none) return tooDear
  }
  return rejectFit(demand, columns, i, slack)
}

/** Variant, tier, `only`, `ignore`, and `order` without fallbacks. */
function rejectName(demand: Demand, group: Group, i: number): Rejection {
  const { columns, resolved } = group
  if (!resolved.anyVariant && columns.variants[i] !== resolved.variant) return REJECTION.variant
  const tier = columns.tier[i]!
  const admitted = tier === TIER.default || (group.tiers & (1 << tier)) !== 0
  if (!admitted && !namedByTag(demand, columns.tags[i]!)) return REJECTION.tierNotAsked
  const { only } = demand
  for (let n = 0; n < only.length; n++) if (!names(only[n]!, columns, i, admitted)) return REJECTION.only
  // Ignoring a provider includes its tiers: a caller who bans a vendor does not want its discounted tier either.
  if (demand.ignore !== undefined && names(demand.ignore, columns, i, true)) return REJECTION.ignore
  if (!demand.allowFallbacks && demand.order !== undefined && orderPosition(demand, group, i) === Infinity) return REJECTION.order
  return REJECTION.none
}

/** Modalities, stored prompts, compaction, output limit, context and, if required, parameters. */
function rejectFit(demand: Demand, columns: Columns, i: number, slack: Slack): Rejection {
  const lacking = demand.inputs & ~columns.inputs[i]!
  if ((slack === SLACK.none ? lacking : lacking & ~demand.adaptableInputs) !== 0) return REJECTION.inputModality
  // Embeddings are made by models that make nothing else, and only for requests that ask for them.
  if ((demand.outputs & ~columns.outputs[i]!) !== 0 || (columns.outputs[i]! & ~demand.outputs & EMBEDDINGS) !== 0) return REJECTION.outputModality
  if (demand.storedPrompt && !keepsPrompts(columns.endpoints[i]!)) return REJECTION.storedPrompt
  if (demand.compaction && !compacts(columns.endpoints[i]!)) return REJECTION.compaction
  if (demand.maxOutputTokens > columns.maxOutput[i]!) return REJECTION.maxOutput
  const window = rejectWindow(demand, columns, i, slack)
  if (window !== REJECTION.none || !demand.requireParameters) return window
  const supports = columns.supports[i]!
  const { requirements, hosted } = demand
  for (let n = 0; n < requirements.length; n++) if ((supports & requirements[n]!.mask) === 0) return REJECTION.parameters
  return hosted.length > 0 && lacksTool(hosted, columns.endpoints[i]!) ? REJECTION.parameters : REJECTION.none
}

const keepsPrompts = ({ connection, upstreamModel }: Endpoint): boolean =>
  connection.dialect.storedPrompts?.({ options: connection.options, upstreamModel }) === true
const compacts = ({ connection, upstreamModel }: Endpoint): boolean =>
  connection.dialect.compacts?.({ options: connection.options, upstreamModel }) === true

function rejectWindow(demand: Demand, columns: Columns, i: number, slack: Slack): Rejection {
  const context = columns.context[i]!
  if (slack !== SLACK.none && shortens(demand, columns, i)) {
    const needed = demand.inputTokens + demand.maxOutputTokens
    return slack === SLACK.adapted && needed > context * 2 ? REJECTION.contextLikely : REJECTION.none
  }
  if (demand.leastTokens > context) return REJECTION.contextCertain
  if (slack !== SLACK.relaxed && demand.inputTokens * CERTAINTY + demand.maxOutputTokens > context) return REJECTION.contextLikely
  return REJECTION.none
}

/** Whether prompts are shortened to this window. An endpoint that only makes images gets its prompt as it is, because there is no text to leave out. */
function shortens(demand: Demand, columns: Columns, i: number): boolean {
  const context = columns.context[i]!
  return context <= demand.shortensUpTo && demand.maxOutputTokens < context && (columns.outputs[i]! & TEXT) !== 0
}

const TEXT = modalityBit('text')
const FILE = modalityBit('file')
const EMBEDDINGS = modalityBit('embeddings')

/** Whether a request may have to be adapted for this endpoint: a modality is missing, or the window is probably too short. */
export function suitsOnlyAdapted(demand: Demand, columns: Columns, i: number): boolean {
  const adaptable = demand.inputs & demand.adaptableInputs
  if ((adaptable & ~columns.inputs[i]!) !== 0) return true
  // Some endpoints read only certain types of files; the adapter looks at each file.
  if ((adaptable & FILE) !== 0 && columns.endpoints[i]!.connection.dialect.takesFile !== undefined) return true
  return demand.inputTokens + demand.maxOutputTokens > columns.context[i]! && shortens(demand, columns, i)
}

/** An estimate errs by about a third, so a window counts as too short only if the prompt misses it by this share of the estimate. */
const CERTAINTY = 0.8

function namedByTag(demand: Demand, tag: string): boolean {
  if (demand.order?.has(tag)) return true
  const { only } = demand
  for (let n = 0; n < only.length; n++) if (only[n]!.has(tag)) return true
  return false
}

const PRICE_REJECTIONS = [
  ['prompt', REJECTION.promptPrice],
  ['completion', REJECTION.completionPrice],
  ['request', REJECTION.requestPrice],
  ['image', REJECTION.imagePrice],
  ['audio', REJECTION.audioPrice],
] as const

function rejectPrice(demand: Demand, endpoint: Endpoint): Rejection {
  for (const [kind, rejection] of PRICE_REJECTIONS) if (exceedsMaxPrice(kind, demand, endpoint)) return rejection
  return REJECTION.none
}

/** One bit per soft requirement that an endpoint lacks, the most important in the highest bit: lower is better. */
export function missingSoft(demand: Demand, supports: number): number {
  let missing = 0
  const { soft } = demand
  for (let n = 0; n < soft.length; n++) missing = (missing << 1) | ((supports & soft[n]!.mask) === 0 ? 1 : 0)
  return missing
}

/** What the request uses and this endpoint does not support; the encoder drops it. */
export function droppedParameters(demand: Demand, supports: number): readonly string[] {
  let dropped: string[] | undefined
  for (const needed of demand.requirements) if ((supports & needed.mask) === 0) (dropped ??= []).push(needed.name)
  return dropped ?? NOTHING
}
const NOTHING: readonly string[] = []

const lackedParameters = (demand: Demand, { supports, endpoints }: Columns, i: number): readonly string[] => [
  ...droppedParameters(demand, supports[i]!),
  ...lackedTools(demand.hosted, endpoints[i]!).map((type) => `the tool ${type}`),
]

/** One clause with the preference or limit and the endpoint's own value. */
export function describeRejection(code: Rejection, demand: Demand, group: Group, i: number): string {
  const { columns, resolved } = group
  const endpoint = columns.endpoints[i]!
  switch (code) {
    case REJECTION.none:
      return 'usable'
    case REJECTION.guardrail:
      return demand.admits?.(endpoint) ?? 'a guardrail forbids it'
    case REJECTION.variant:
      return endpoint.variant === undefined
        ? `it does not serve the variant ":${resolved.variant}"`
        : `it serves only the variant ":${endpoint.variant}"`
    case REJECTION.only:
      return 'provider.only does not name it'
    case REJECTION.ignore:
      return 'provider.ignore names it'
    case REJECTION.order:
      return 'provider.order does not name it and provider.allow_fallbacks is false'
    case REJECTION.tierNotAsked:
      return `its service tier "${endpoint.tier}" was not asked for`
    case REJECTION.flexOnly:
      return 'service_tier is flex and other endpoints of the model serve it'
    case REJECTION.dataCollection:
      return 'provider.data_collection is deny and it collects data'
    case REJECTION.zdr:
      return 'provider.zdr is set and it retains data'
    case REJECTION.distillable:
      return 'provider.enforce_distillable_text is set and its terms forbid distillation'
    case REJECTION.quantization:
      return `provider.quantizations does not list its "${endpoint.quantization}"`
    case REJECTION.promptPrice:
      return describeMaxPrice('prompt', demand, endpoint)
    case REJECTION.completionPrice:
      return describeMaxPrice('completion', demand, endpoint)
    case REJECTION.requestPrice:
      return describeMaxPrice('request', demand, endpoint)
    case REJECTION.imagePrice:
      return describeMaxPrice('image', demand, endpoint)
    case REJECTION.audioPrice:
      return describeMaxPrice('audio', demand, endpoint)
    case REJECTION.parameters:
      return `provider.require_parameters is set and it lacks ${lackedParameters(demand, columns, i).join(', ')}`
    case REJECTION.softParameters:
      return `it lacks ${demand.soft
        .filter((needed) => (columns.supports[i]! & needed.mask) === 0)
        .map((needed) => needed.name)
        .join(', ')}, which other endpoints of the model support`
    case REJECTION.inputModality:
      return `it does not take ${modalityNames(demand.inputs & ~columns.inputs[i]!)} input`
    case REJECTION.outputModality:
      return describeOutput(demand.outputs & ~columns.outputs[i]!, columns.outputs[i]!)
    case REJECTION.storedPrompt:
      return 'it keeps no prompts, so that "prompt" alone gives it nothing to answer'
    case REJECTION.compaction:
      return 'it does not compact conversations'
    case REJECTION.contextLikely:
    case REJECTION.contextCertain:
      return `its context of ${endpoint.contextLength} tokens is too short for about ${demand.inputTokens} tokens of input${demand.maxOutputTokens > 0 ? ` and ${demand.maxOutputTokens} of output` : ''}`
    case REJECTION.maxOutput:
      return `max_output_tokens is ${demand.maxOutputTokens} and its limit is ${endpoint.maxOutputTokens}`
    case REJECTION.fallbacksOff:
      return 'provider.allow_fallbacks is false and another endpoint goes first'
  }
}

function describeOutput(lacking: number, has: number): string {
  if ((lacking & EMBEDDINGS) !== 0) return 'it makes no embeddings'
  return (has & EMBEDDINGS) === 0 ? `it does not produce ${modalityNames(lacking)} output` : 'it makes embeddings, and nothing else'
}

const modalityNames = (mask: number): string => MODALITIES.filter((name) => (mask & modalityBit(name)) !== 0).join(' and ')

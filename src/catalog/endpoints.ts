import { INPUT_MODALITIES, type EndpointPolicies, type Modality, type Parameter } from '../core/capability.ts'
import type { EndpointConfig, ModelConfig } from '../core/config.ts'
import type { Endpoint, RateLimits } from '../core/endpoint.ts'
import type { Pricing } from '../core/pricing.ts'
import type { Connection, ProviderModel } from '../core/provider.ts'
import { defined } from '../lib/defined.ts'
import type { ConnectedProvider } from './connect.ts'
import { endpointLimits } from './endpoint-limits.ts'
import { traitsOf, type ModelTraits } from './data/model-traits.ts'
import type { PriceBook, PricedModel } from './price-book.ts'
import type { Report } from './provider-settings.ts'

/**
 * Stands for an unknown context length. Large, because a guess must not exclude an endpoint, and one less than a figure that vendors use, so that it
 * differs from a known one.
 */
export const UNKNOWN_CONTEXT_LENGTH = 1_048_575

/** Capabilities that an operator lists by one word, and the parameters that belong to each. */
const CAPABILITIES: { readonly [name: string]: readonly Parameter[] } = {
  tools: ['tools', 'tool_choice', 'parallel_tool_calls'],
  structured_outputs: ['structured_outputs', 'response_format'],
  reasoning: ['reasoning', 'include_reasoning', 'reasoning_effort'],
  logprobs: ['logprobs', 'top_logprobs'],
  verbosity: ['verbosity'],
  prediction: ['prediction'],
  web_search_options: ['web_search_options'],
}
const REASONING: ReadonlySet<Parameter> = new Set(CAPABILITIES['reasoning'])
const LISTED = new Set(Object.values(CAPABILITIES).flat())
const KINDS_OF_INPUT: ReadonlySet<string> = new Set(INPUT_MODALITIES)
const isKindOfInput = (name: string): name is Modality => KINDS_OF_INPUT.has(name)

interface Parts {
  readonly model: string
  readonly knownAs?: readonly string[] | undefined
  readonly variant?: string | undefined
  readonly tag: string
  readonly upstreamModel: string
  readonly connected: ConnectedProvider
  readonly connection: Connection
  readonly contextLength: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly pricing: Pricing
  readonly supports: ReadonlySet<Parameter>
  readonly inputs: readonly Modality[]
  readonly outputs: readonly Modality[]
  readonly policies?: Partial<EndpointPolicies>
  readonly weight?: number | undefined
  readonly rateLimits?: RateLimits | undefined
  readonly quantization?: string | undefined
  readonly region?: string | undefined
  readonly tier?: Endpoint['tier'] | undefined
  readonly reasonsByDefault: boolean
  readonly implicitCaching: boolean
}

function createEndpoint(parts: Parts): Endpoint {
  const { connected, model, knownAs, variant, tag, upstreamModel, region, tier, maxOutputTokens, weight } = parts
  const id = `${variant === undefined ? model : `${model}:${variant}`}@${tag}#${upstreamModel}`
  const limits = endpointLimits(id, parts.rateLimits, connected.slug, connected.rateLimits)
  return {
    id,
    model,
    provider: connected.slug,
    tag,
    providerName: connected.name,
    upstreamModel,
    contextLength: parts.contextLength ?? UNKNOWN_CONTEXT_LENGTH,
    pricing: priceOf(parts),
    supports: parts.supports,
    inputModalities: new Set(parts.inputs),
    outputModalities: new Set(parts.outputs),
    policies: { ...connected.policies, ...parts.policies },
    quantization: parts.quantization ?? 'unknown',
    ...defined({ vendor: connected.vendor, knownAs, variant, maxOutputTokens, region, tier, weight, limits }),
    ...(parts.reasonsByDefault ? { reasonsByDefault: true } : {}),
    ...(parts.implicitCaching ? { implicitCaching: true } : {}),
    connection: parts.connection,
  }
}

/** Embeddings have no output tokens, so a missing output price is zero and not unknown. */
const priceOf = ({ pricing, outputs }: Pick<Parts, 'pricing' | 'outputs'>): Pricing =>
  outputs.includes('embeddings') && pricing.input !== undefined ? { output: 0, ...pricing } : pricing

const NO_PARAMETERS: ReadonlySet<Parameter> = new Set()
const supportSets = new WeakMap<Connection['dialect'], Map<string, ReadonlySet<Parameter>>>()

/**
 * The parameters that the dialect supports for a model and those that its vendor supports in addition, except those that vendor, model or operator
 * (`refused`) rule out. Equal sets are shared between endpoints: a large vendor has hundreds.
 */
function supportsOf(
  { provider }: ConnectedProvider,
  { dialect, options }: Connection,
  upstreamModel: string,
  refused: readonly Parameter[],
): ReadonlySet<Parameter> {
  if (dialect.answers === 'embeddings') return NO_PARAMETERS
  const { supported = [], unsupported = [] } = provider?.models ?? {}
  const sets = supportSets.get(dialect) ?? new Map<string, ReadonlySet<Parameter>>()
  supportSets.set(dialect, sets)
  const reasons = dialect.reasons?.({ options, upstreamModel })
  const without = new Set([...unsupported, ...refused])
  const key = `${reasons} +${supported.join(' ')} -${[...without].join(' ')}`
  const known = sets.get(key) ?? new Set([...parametersOf(dialect, reasons), ...supported].filter((parameter) => !without.has(parameter)))
  sets.set(key, known)
  return known
}

function parametersOf({ supports }: Connection['dialect'], reasons: boolean | undefined): readonly Parameter[] {
  if (reasons === undefined) return supports
  return reasons ? [...new Set([...supports, ...REASONING])] : supports.filter((parameter) => !REASONING.has(parameter))
}

/** The inputs that the model's name implies, and pictures if its vendor serves a newer model under that name. */
const inputsOf = ({ provider }: ConnectedProvider, upstreamModel: string, { inputs }: ModelTraits): readonly Modality[] =>
  provider?.models?.seeing?.test(upstreamModel) === true ? [...new Set<Modality>([...inputs, 'image'])] : inputs

/** No endpoint answers with both embeddings and text: they are different formats. */
const answersOf = ({ outputs }: Pick<ModelTraits, 'outputs'>): 'text' | 'embeddings' => (outputs.includes('embeddings') ? 'embeddings' : 'text')

/** The traits that a name implies, except for the kind of answer if the model declares it or if the server makes only embeddings. */
function traitsAt({ embeds }: ConnectedProvider, slug: string, declared?: 'text' | 'embeddings'): ModelTraits {
  const traits = traitsOf(slug)
  const answers = declared ?? (embeds === 'only' ? 'embeddings' : answersOf(traits))
  return answers === answersOf(traits) ? traits : { ...traits, outputs: [answers] }
}

/** An endpoint of a built-in vendor for a model in the price data. */
export function endpointFromPrices(
  connected: ConnectedProvider,
  priced: PricedModel,
  slug: string,
  variant: string | undefined,
  book: PriceBook,
  report: Report,
): Endpoint | undefined {
  const upstreamModel = connected.provider?.models?.ids?.[priced.id] ?? priced.upstreamId ?? priced.id
  const traits = traitsOf(slug)
  const connection = connected.connectionFor(upstreamModel, {}, report, answersOf(traits))
  if (connection === undefined) return undefined
  return createEndpoint({
    model: slug,
    variant,
    tag: connected.slug,
    upstreamModel,
    connected,
    connection,
    contextLength: priced.contextLength ?? book.about(slug)?.contextLength,
    pricing: priced.pricing,
    supports: supportsOf(connected, connection, upstreamModel, traits.unsupported),
    inputs: inputsOf(connected, upstreamModel, traits),
    outputs: traits.outputs,
    reasonsByDefault: traits.reasonsByDefault,
    implicitCaching: traits.implicitCaching,
  })
}

/** An endpoint for a model that its provider declares. */
export function endpointFromDeclaration(connected: ConnectedProvider, declared: ProviderModel, report: Report): Endpoint | undefined {
  const connection = connected.connectionFor(declared.upstreamModel, {}, report, declared.answers)
  if (connection === undefined) return undefined
  return createEndpoint({
    model: declared.slug,
    tag: connected.slug,
    upstreamModel: declared.upstreamModel,
    connected,
    connection,
    contextLength: declared.contextLength,
    maxOutputTokens: declared.maxOutputTokens,
    pricing: declared.pricing ?? {},
    supports: supportsOf(connected, connection, declared.upstreamModel, []),
    inputs: declared.inputModalities ?? ['text'],
    outputs: [declared.answers ?? 'text'],
    reasonsByDefault: declared.reasonsByDefault === true,
    implicitCaching: false,
  })
}

/** An endpoint from the configuration. What it leaves open comes from the dialect, the vendor and the known properties of the model. */
export function endpointFromConfig(
  connected: ConnectedProvider,
  model: ModelConfig,
  entry: EndpointConfig,
  book: PriceBook,
  report: Report,
): Endpoint | undefined {
  const traits = traitsAt(connected, model.slug, model.answers)
  const connection = connected.connectionFor(entry.upstreamModel, entry.options, report, answersOf(traits), entry.supports?.filter(isKindOfInput))
  if (connection === undefined) return undefined
  const known = book.find(priceVendorOf(connected), entry.upstreamModel)
  const knownContext = known?.contextLength ?? book.about(model.slug)?.contextLength
  const base = supportsOf(connected, connection, entry.upstreamModel, [...traits.unsupported, ...entry.unsupported])
  const { variant, maxOutputTokens, policies, weight, rateLimits, quantization, region, tier } = entry
  return createEndpoint({
    model: model.slug,
    tag: tagOf(entry),
    upstreamModel: entry.upstreamModel,
    connected,
    connection,
    contextLength: entry.contextLength ?? model.contextLength ?? knownContext,
    // An operator's price replaces the listed one entirely: a mix with listed tiers would correspond to neither.
    pricing: entry.pricing ?? known?.pricing ?? {},
    outputs: traits.outputs,
    implicitCaching: entry.implicitCaching ?? traits.implicitCaching,
    ...capabilitiesOf(entry, base, { ...traits, inputs: inputsOf(connected, entry.upstreamModel, traits) }),
    variant,
    maxOutputTokens,
    policies,
    weight,
    rateLimits,
    quantization,
    region,
    tier,
  })
}

function capabilitiesOf(
  entry: EndpointConfig,
  base: ReadonlySet<Parameter>,
  traits: ModelTraits,
): Pick<Parts, 'supports' | 'inputs' | 'reasonsByDefault'> {
  const { supports, reasonsByDefault } = entry
  if (supports === undefined) return { supports: base, inputs: traits.inputs, reasonsByDefault: reasonsByDefault ?? traits.reasonsByDefault }
  const inputs = supports.filter(isKindOfInput)
  return {
    supports: listedSupports(base, entry),
    inputs: ['text', ...inputs],
    reasonsByDefault: reasonsByDefault ?? (supports.includes('reasoning') && traits.reasonsByDefault),
  }
}

/**
 * `supports` lists capabilities (tools, structured_outputs, reasoning, ...): unlisted ones are removed, listed ones are added with all their
 * parameters. Plain sampling parameters stay as in the dialect, so that a list of capabilities does not remove the temperature.
 */
function listedSupports(base: ReadonlySet<Parameter>, entry: EndpointConfig): ReadonlySet<Parameter> {
  const names = (entry.supports ?? []).filter((name): name is Parameter => !KINDS_OF_INPUT.has(name))
  const listed = names.flatMap((name) => [name, ...(CAPABILITIES[name] ?? [])])
  const kept = [...base].filter((parameter) => !LISTED.has(parameter))
  return new Set([...kept, ...listed].filter((parameter) => !entry.unsupported.includes(parameter)))
}

/** `acme/turbo` as written; otherwise the provider with its tier or region. */
function tagOf(entry: EndpointConfig): string {
  if (entry.provider.includes('/')) return entry.provider
  if (entry.tier === 'flex' || entry.tier === 'priority') return `${entry.provider}/${entry.tier}`
  return entry.region === undefined ? entry.provider : `${entry.provider}/${entry.region}`
}

/** A name that a caller made of a provider and one of its ids. */
export interface OpenId {
  readonly name: string
  readonly upstreamModel: string
  /** The catalog's name for it. */
  readonly slug: string
  /** Other models of the catalog that the provider serves under this id. */
  readonly listedAs: readonly string[]
}

/** An endpoint for an id outside the catalog: with the data's price if the data recognise the id, otherwise with an unknown price. */
export function endpointForOpenId(connected: ConnectedProvider, id: OpenId, book: PriceBook): Endpoint | undefined {
  const { name, upstreamModel, slug, listedAs } = id
  const knownAs = [...new Set([slug, ...listedAs])].filter((known) => known !== name)
  const traits = traitsAt(connected, slug)
  const connection = connected.connectionFor(upstreamModel, {}, () => undefined, answersOf(traits))
  if (connection === undefined) return undefined
  const known = book.find(priceVendorOf(connected), upstreamModel)
  return createEndpoint({
    model: name,
    knownAs: knownAs.length === 0 ? undefined : knownAs,
    tag: connected.slug,
    upstreamModel,
    connected,
    connection,
    contextLength: known?.contextLength ?? book.about(slug)?.contextLength,
    pricing: known?.pricing ?? {},
    supports: supportsOf(connected, connection, upstreamModel, traits.unsupported),
    inputs: inputsOf(connected, upstreamModel, traits),
    outputs: traits.outputs,
    reasonsByDefault: traits.reasonsByDefault,
    implicitCaching: traits.implicitCaching,
  })
}

/** The vendor's id in the price data. */
export function priceVendorOf(connected: ConnectedProvider): string {
  return connected.provider?.priceProvider ?? connected.provider?.slug ?? connected.slug
}

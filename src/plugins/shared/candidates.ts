import type { Catalog, Endpoint, Model, Modality } from '../../core/endpoint.ts'
import { GatewayError } from '../../core/error.ts'
import type { PluginContext } from '../../core/extension.ts'
import type { ModelRequest } from '../../core/request.ts'
import { matchesWildcard } from '../../lib/wildcard.ts'

/** A model that could serve a request, with its cheapest suitable endpoint. */
export interface Candidate {
  readonly model: Model
  readonly endpoint: Endpoint
  /** USD per million tokens of prompt. */
  readonly inputPrice: number
  /** USD per million tokens, for three parts of prompt and one of answer, as in a typical turn of a conversation. */
  readonly price: number
}

export interface CandidateOptions {
  readonly catalog: Catalog
  readonly tokensOf: (request: ModelRequest) => number
  /** Patterns with `*`; absent: every model. */
  readonly allowed?: readonly string[] | undefined
  readonly excluded?: readonly string[] | undefined
}

/** Models made for one kind of work and poor at any other. */
export const SPECIALIST = /(?:^|[/-])(?:guard|moderation|embed\w*|rerank\w*|ocr|tts|audio|transcrib\w*|image|safeguard|router)(?:-|$)/i

/** Cheapest first. Throws GatewayError `not_found` if no candidate is left. */
export function candidatesFor(
  request: ModelRequest,
  { call, permitted }: Pick<PluginContext, 'call' | 'permitted'>,
  options: CandidateOptions,
): readonly [Candidate, ...Candidate[]] {
  const needs = needsOf(request, options.tokensOf)
  const permittedOf = permitted(request)
  const candidates: Candidate[] = []
  for (const model of options.catalog.models()) {
    if (isOneOf(options.excluded, model) === true) continue
    const named = isOneOf(options.allowed, model)
    if (named === false) continue
    // Variants of a model have terms of their own (free, small quotas), so they are only used if named.
    if (named === undefined && model.slug.includes(':')) continue
    const best = cheapest(permittedOf(model).filter((endpoint) => (named === true || !isSimulated(endpoint)) && fits(endpoint, needs, call.admits)))
    if (best !== undefined) candidates.push({ model, ...best })
  }
  const [first, ...rest] = candidates.sort((a, b) => a.price - b.price || (a.model.slug < b.model.slug ? -1 : 1))
  if (first === undefined) throw new GatewayError('not_found', whyNone(options), { path: 'model' })
  return [first, ...rest]
}

/** Whether a list names a model by its slug or an alias; undefined without a list. */
const isOneOf = (list: readonly string[] | undefined, { slug, aliases = [] }: Model): boolean | undefined =>
  list?.some((pattern) => [slug, ...aliases].some((name) => matchesWildcard(pattern, name)))

function whyNone({ catalog, allowed }: CandidateOptions): string {
  if (allowed === undefined && catalog.models().every(({ endpoints }) => endpoints.every(isSimulated)))
    return 'There is no model to choose from: only simulated ones are served, which have to be named. A provider has to be switched on (signalbox check --providers)'
  return 'No models match your request and model restrictions'
}

/** Answered by this process itself: meant for trying things out, and only used if named. */
const isSimulated = ({ connection }: Endpoint): boolean => connection.transport !== undefined

function cheapest(endpoints: readonly Endpoint[]): Omit<Candidate, 'model'> | undefined {
  let best: Omit<Candidate, 'model'> | undefined
  for (const endpoint of endpoints) {
    const { input, output } = endpoint.pricing
    if (input === undefined || output === undefined) continue
    const price = (3 * input + output) / 4
    if (best === undefined || price < best.price) best = { endpoint, inputPrice: input, price }
  }
  return best
}

interface Needs {
  readonly inputs: ReadonlySet<Modality>
  readonly outputs: readonly string[]
  readonly tokens: number
  readonly outputTokens: number
  readonly tools: boolean
  readonly structured: boolean
}

function needsOf(request: ModelRequest, tokensOf: (request: ModelRequest) => number): Needs {
  return {
    inputs: inputsOf(request),
    outputs: request.modalities ?? ['text'],
    tokens: tokensOf(request) + (request.max_output_tokens ?? 0),
    outputTokens: request.max_output_tokens ?? 0,
    tools: (request.tools?.length ?? 0) > 0,
    structured: request.text?.format?.type === 'json_schema',
  }
}

const MODALITY_OF: { readonly [part: string]: Modality } = { input_image: 'image', input_file: 'file', input_audio: 'audio', input_video: 'video' }

/** The modalities of the input besides text. */
export function inputsOf({ input }: ModelRequest): ReadonlySet<Modality> {
  const found = new Set<Modality>()
  for (const item of input) {
    const { content, output } = item as { readonly content?: unknown; readonly output?: unknown }
    for (const parts of [content, output]) {
      if (!Array.isArray(parts)) continue
      for (const part of parts as readonly ({ readonly type?: string } | null)[]) {
        const modality = MODALITY_OF[part?.type ?? '']
        if (modality !== undefined) found.add(modality)
      }
    }
  }
  return found
}

function fits(endpoint: Endpoint, needs: Needs, admits: PluginContext['call']['admits']): boolean {
  if (endpoint.variant !== undefined || (endpoint.tier !== undefined && endpoint.tier !== 'default')) return false
  if (!needs.outputs.every((modality) => endpoint.outputModalities.has(modality as Modality))) return false
  for (const modality of needs.inputs) if (!endpoint.inputModalities.has(modality)) return false
  if (needs.tokens > endpoint.contextLength || needs.outputTokens > (endpoint.maxOutputTokens ?? Infinity)) return false
  if (needs.tools && !endpoint.supports.has('tools')) return false
  if (needs.structured && !endpoint.supports.has('structured_outputs')) return false
  return admits?.(endpoint) === undefined
}

import type { EncodedRequest } from '../../core/dialect.ts'
import { GATEWAY_FIELDS } from '../../core/request.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { JsonObject } from '../../core/item.ts'
import { unmetImageOptions } from '../shared/image-output.ts'
import { isObject } from '../shared/json.ts'
import { modelSegment } from '../shared/model-segment.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import { serviceTierWord } from '../shared/service-tier.ts'
import type { TierWords } from '../shared/service-tier.ts'
import { unmetMembers } from '../shared/unmet-members.ts'
import { stopSequences } from '../shared/stop-sequences.ts'
import { foldTurns } from '../shared/turns.ts'
import type { BedrockTarget } from './media.ts'
import { placeCachePoints, planCache } from './cache-points.ts'
import { encodeMessages, finishPrefill, isLoopWithoutThinking } from './messages.ts'
import { traitsOf } from './model-traits.ts'
import type { ModelTraits } from './model-traits.ts'
import { planReasoning } from './reasoning.ts'
import type { ReasoningPlan } from './reasoning.ts'
import { planFormat } from './response-format.ts'
import { splitTools } from './system-tools.ts'
import { isForced } from '../shared/tool-choice.ts'
import { asksWhole, planTools, toolConfig, toolList, toolsOf, type Offer } from './tools.ts'
import { compiled } from '../shared/pattern.ts'

type Body = { [field: string]: unknown }

/** A `converse` request for the target's model. Lists in `dropped` what this endpoint does not receive. */
export function encodeRequest(request: ModelRequest, target: BedrockTarget): EncodedRequest {
  const traits = traitsOf(target.options, target.upstreamModel)
  const usesTools = traits.tools && target.supports.has('tools')
  const { callable, system: systemTools } = splitTools(usesTools ? request.tools : [], traits)
  const flat = toolsOf(usesTools ? { ...request, tools: callable } : {})
  const dropped = [...flat.dropped]
  if (request.tools?.length && !usesTools) dropped.push('tools')
  const conversation = foldTurns(request, {
    callIds: idRule(traits),
    names: flat.names,
    laterSystem: 'user-text',
    alternate: true,
    keepReasoning: (part) => readable(part, traits, target.scope),
  })
  for (const field of conversation.dropped) dropped.push(field)
  if (conversation.droppedReasoning) dropped.push('input: reasoning this model cannot read')

  const format = planFormat(request, traits)
  if (format.note !== undefined) dropped.push(format.note)
  const offer = planTools(flat, format, conversation, traits, dropped)
  const cache = planCache(request, traits)
  const extraSystem = format.instruction === undefined ? [] : [format.instruction]
  const { system, messages } = encodeMessages(conversation, target, { textCalls: offer.textCalls, extraSystem, cache }, dropped)
  const reasoning = planReasoning(
    request,
    target.supports.has('reasoning') ? traits : { ...traits, reasoning: 'none' },
    { maxOutputTokens: target.maxOutputTokens, forced: isForced(offer.choice), lostThoughts: isLoopWithoutThinking(messages) },
    dropped,
  )
  finishPrefill(messages, traits.prefill === 'always' || (traits.prefill === 'without-reasoning' && !reasoning.on), dropped)
  const tools = toolList(offer, request.tool_choice === 'none' ? [] : systemTools, traits, cache, dropped)
  placeCachePoints(tools, system, messages, cache, dropped)
  const additional = additionalFields(request, target, traits, reasoning, offer, dropped)
  const body: Body = {
    messages,
    ...(system.length > 0 ? { system } : {}),
    inferenceConfig: inferenceConfig(request, target, traits, reasoning, dropped),
    ...toolConfig(tools, offer, traits),
    ...(format.native === undefined ? {} : { outputConfig: format.native }),
    ...(Object.keys(additional).length === 0 ? {} : { additionalModelRequestFields: additional }),
    ...accountFields(request, target, dropped),
  }
  noteIgnored(request, dropped)
  return {
    method: 'POST',
    ...addressOf(target, target.stream && !asksWhole(request, traits)),
    body: JSON.stringify(body),
    dropped: [...new Set(dropped)],
  }
}

/** Ids contain colons, and ARNs slashes as well, so the id is escaped into one path segment. */
function addressOf({ upstreamModel }: BedrockTarget, stream: boolean): Pick<EncodedRequest, 'path' | 'headers'> {
  return {
    path: `/model/${modelSegment(upstreamModel)}/${stream ? 'converse-stream' : 'converse'}`,
    headers: { 'content-type': 'application/json', accept: stream ? 'application/vnd.amazon.eventstream' : 'application/json' },
  }
}

function idRule({ tool_ids: rule }: ModelTraits): { pattern: RegExp; max: number; length?: number } {
  return { pattern: compiled(rule.pattern), max: rule.max, ...(rule.length === undefined ? {} : { length: rule.length }) }
}

/** Only reasoning that this family signed for this account goes back. Plain fields of the contract name no account and are trusted. */
function readable(part: ReasoningPart, traits: ModelTraits, scope: string): boolean {
  if (!traits.reasoning_replay || part.format !== traits.reasoning_format) return false
  if (part.signature === undefined && part.data === undefined) return false
  return part.scope === undefined || part.scope === scope
}

// ---- parameters ----

function inferenceConfig(request: ModelRequest, target: BedrockTarget, traits: ModelTraits, reasoning: ReasoningPlan, dropped: string[]): JsonObject {
  const config: Body = {}
  const limit = reasoning.maxTokens ?? request.max_output_tokens
  if (limit != null) {
    if (reasoning.bare === true) dropped.push('max_output_tokens')
    else config['maxTokens'] = lowered('max_output_tokens', limit, target.maxOutputTokens, dropped)
  }
  const samples = traits.sampling !== 'none' && reasoning.bare !== true && (traits.sampling_with_reasoning || !reasoning.on)
  if (request.temperature != null) {
    if (samples && target.supports.has('temperature'))
      config['temperature'] = lowered('temperature', request.temperature, traits.max_temperature, dropped)
    else dropped.push('temperature')
  }
  if (request.top_p != null) {
    if (samples && target.supports.has('top_p') && !(traits.sampling === 'one' && 'temperature' in config)) config['topP'] = request.top_p
    else dropped.push('top_p')
  }
  const stop = stopSequences(request, { blank: false }, dropped)
  if (stop.length > 0) {
    if (traits.stop_sequences && target.supports.has('stop')) config['stopSequences'] = stop
    else dropped.push('stop')
  }
  return config
}

function lowered(field: string, value: number, limit: number | undefined, dropped: string[]): number {
  if (limit === undefined || value <= limit) return value
  dropped.push(`${field}: lowered to ${limit}`)
  return limit
}

function additionalFields(
  request: ModelRequest,
  target: BedrockTarget,
  traits: ModelTraits,
  reasoning: ReasoningPlan,
  offer: Offer,
  dropped: string[],
): Body {
  const { options } = target
  let fields: Body = { ...reasoning.fields }
  if (request.top_k != null) {
    const samples = traits.sampling !== 'none' && (traits.sampling_with_reasoning || !reasoning.on)
    if (traits.top_k.length > 0 && samples) fields = merge(fields, nest(traits.top_k, request.top_k))
    else dropped.push('top_k')
  }
  if (offer.nativeChoice !== undefined) fields['tool_choice'] = offer.nativeChoice
  else if (request.parallel_tool_calls === false && offer.tools.length > 0) {
    // A choice in `toolConfig` must not be repeated here: "tool_choice/type conflicts with the existing field".
    if (traits.native_tool_choice)
      fields['tool_choice'] = { ...(offer.choice === undefined ? { type: 'auto' } : {}), disable_parallel_tool_use: true }
    else dropped.push('parallel_tool_calls')
  }
  if (options.betas.length > 0) fields['anthropic_beta'] = options.betas
  return merge(fields, options.extra_fields)
}

function nest(path: readonly string[], value: unknown): JsonObject {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as JsonObject
}

/** Merges objects one level deep. */
function merge(fields: Body, more: JsonObject): Body {
  const merged = { ...fields }
  for (const [key, value] of Object.entries(more)) {
    const before = merged[key]
    merged[key] = isObject(before) && isObject(value) ? { ...before, ...value } : value
  }
  return merged
}

// ---- account ----

const TIERS: TierWords = { flex: 'flex', priority: 'priority' }

function accountFields(request: ModelRequest, target: BedrockTarget, dropped: string[]): Body {
  const { options } = target
  const body: Body = {}
  const tier = serviceTierWord(request, target, { known: true, words: TIERS })
  if (tier.word !== undefined) body['serviceTier'] = { type: tier.word }
  if (tier.dropped) dropped.push('service_tier')
  if (options.guardrail !== undefined) body['guardrailConfig'] = options.guardrail
  if (options.latency !== undefined) body['performanceConfig'] = { latency: options.latency }
  if (options.response_field_paths.length > 0) body['additionalModelResponseFieldPaths'] = options.response_field_paths
  if (request.metadata != null && Object.keys(request.metadata).length > 0) {
    if (options.forward_metadata) body['requestMetadata'] = requestMetadata(request.metadata)
    else dropped.push('metadata')
  }
  return body
}

/** Keys and values may contain only these characters. */
function requestMetadata(metadata: { readonly [key: string]: string }): JsonObject {
  const clean = (text: string): string => text.replace(/[^a-zA-Z0-9\s:_@$#=/+,.-]/g, '_').slice(0, 256)
  return Object.fromEntries(Object.entries(metadata).flatMap(([key, value]) => (key === '' ? [] : [[clean(key), clean(value)]])))
}

/** Fields that are handled above, or that have no effect in this format. */
const HANDLED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stop_sequences',
  'reasoning',
  'include',
  'service_tier',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_options',
  'client_metadata',
  'text',
])

function noteIgnored(request: ModelRequest, dropped: string[]): void {
  for (const [field, value] of Object.entries(request)) {
    if (HANDLED.has(field) || value == null) continue
    if (!(field === 'truncation' && value === 'disabled') && !(field === 'background' && value === false)) dropped.push(field)
  }
  dropped.push(...unmetImageOptions(request), ...unmetMembers(request))
  if (request.text?.verbosity != null) dropped.push('text.verbosity')
  if (request.include?.includes('message.output_text.logprobs') === true) dropped.push('top_logprobs')
}

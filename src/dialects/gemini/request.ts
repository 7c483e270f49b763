import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { InputItem, MessageItem } from '../../core/item.ts'
import { GATEWAY_FIELDS } from '../../core/request.ts'
import type { ModelRequest } from '../../core/request.ts'
import { askForFormat, formatOf, type FormatPlan } from '../shared/format-plan.ts'
import { unmetImageOptions } from '../shared/image-output.ts'
import { isObject } from '../shared/json.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import { serviceTierWord } from '../shared/service-tier.ts'
import type { TierWords } from '../shared/service-tier.ts'
import { unmetMembers } from '../shared/unmet-members.ts'
import { stopSequences } from '../shared/stop-sequences.ts'
import { foldTurns } from '../shared/turns.ts'
import type { Conversation } from '../shared/conversation.ts'
import { modelSegments } from '../shared/model-segment.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { encodeContents, finishPrefill, keepItem } from './contents.ts'
import { fitJsonSchema } from '../shared/rooted-schema.ts'
import { traitsOf } from './model-traits.ts'
import type { ModelTraits } from './model-traits.ts'
import { toOpenApiSchema } from './openapi-schema.ts'
import { REASONING_FORMAT } from './options.ts'
import type { GeminiOptions } from './options.ts'
import { encodeThinking } from './thinking.ts'
import { encodeTools, toolsOf } from './tools.ts'
import type { GeminiTools } from './tools.ts'

type GeminiTarget = Target<GeminiOptions>
type Body = { [field: string]: unknown }

/** Encodes a request for this endpoint. `dropped` lists what it does not receive. Throws `invalid_prompt` for media that it does not accept. */
export function encodeRequest(request: ModelRequest, target: GeminiTarget): EncodedRequest {
  const { options } = target
  const traits = traitsOf(options, target.upstreamModel)
  const hasTools = target.supports.has('tools')
  const tools = toolsOf(hasTools ? request : {}, options)
  const dropped = [...tools.dropped]
  if (request.tools?.length && !hasTools) dropped.push('tools')
  const conversation = fold(request, target, traits, tools, dropped)
  const format = planFormat(request, target, traits, tools)
  if (format.note !== undefined) dropped.push(format.note)
  const { contents, systemInstruction } = encodeContents(conversation, target, traits, format.instruction === undefined ? [] : [format.instruction])
  const generationConfig = { ...encodeParameters(request, target, traits, dropped), ...format.native }
  const tier = encodeTier(request, target, dropped)
  const body: Body = {
    contents: finishPrefill(contents, traits, dropped),
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...encodeTools(tools, request, target, traits, dropped),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(options.safety_settings.length === 0 ? {} : { safetySettings: options.safety_settings }),
    ...tier.body,
    ...encodeAccount(request, options, dropped),
    ...encodeExtras(request, options, dropped),
  }
  return {
    method: 'POST',
    path: pathOf(target),
    headers: { 'content-type': 'application/json', accept: target.stream ? 'text/event-stream' : 'application/json', ...tier.headers },
    body: JSON.stringify(withConstants(body, options)),
    dropped: [...new Set(dropped)],
  }
}

/** Names that contain a folder (tuned models, deployed endpoints) are not in the folder of the public ones. */
function pathOf({ upstreamModel, options, stream }: GeminiTarget): string {
  const name = upstreamModel.replace(/^models\//, '')
  const model = modelSegments(name)
  return `${name.includes('/') ? '' : options.path}/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function fold(request: ModelRequest, target: GeminiTarget, traits: ModelTraits, tools: GeminiTools, dropped: string[]): Conversation {
  const input = target.options.later_system === 'instruction' ? systemFirst(request.input) : request.input
  const conversation = foldTurns(
    { input, instructions: request.instructions ?? null },
    {
      callIds: { pattern: /^[a-zA-Z0-9_.:-]+$/, max: 128 },
      names: tools.names,
      laterSystem: 'user-text',
      alternate: true,
      keepReasoning: (part) => readable(part, target),
      keepItem: (item) => keepItem(item, traits),
    },
  )
  for (const field of conversation.dropped) dropped.push(field)
  if (conversation.droppedReasoning) dropped.push('input: reasoning of another provider')
  return conversation
}

const isSystem = (item: InputItem): boolean => {
  const { role } = item as Partial<MessageItem>
  return item.type === 'message' && (role === 'system' || role === 'developer')
}

/** Returns the same list if nothing has to move. */
function systemFirst(input: readonly InputItem[]): readonly InputItem[] {
  const end = input.findIndex((item) => !isSystem(item))
  if (end < 0 || !input.slice(end).some(isSystem)) return input
  const moved = [...input.filter(isSystem), ...input.filter((item) => !isSystem(item))]
  // The last item was no answer to be continued.
  return isSystem(input.at(-1)!) ? [...moved, { type: 'message', role: 'user', content: '' }] : moved
}

/** Accepts signatures of this format and this scope. Without an envelope the scope is unknown, and only the format counts. */
function readable(part: ReasoningPart, target: GeminiTarget): boolean {
  if (part.format !== REASONING_FORMAT) return false
  if (part.data !== undefined) return part.scope === target.scope
  return part.signature === undefined || part.scope === undefined || part.scope === target.scope
}

// ---- parameters ----

function encodeParameters(request: ModelRequest, target: GeminiTarget, traits: ModelTraits, dropped: string[]): Body {
  const { supports } = target
  const config: Body = {}
  const put = (field: string, name: string, allowed: boolean, value: unknown = request[field]): void => {
    if (value == null) return
    if (allowed) config[name] = value
    else dropped.push(field)
  }
  put('temperature', 'temperature', supports.has('temperature') && traits.sampling)
  put('top_p', 'topP', supports.has('top_p') && traits.sampling)
  // Other APIs use zero for no limit, but here it is out of range.
  if (request.top_k !== 0) put('top_k', 'topK', supports.has('top_k') && traits.sampling)
  put('seed', 'seed', supports.has('seed'))
  put('presence_penalty', 'presencePenalty', supports.has('presence_penalty') && traits.penalties)
  put('frequency_penalty', 'frequencyPenalty', supports.has('frequency_penalty') && traits.penalties)
  const stop = stopSequences(request, { max: MAX_STOP_SEQUENCES }, dropped)
  if (stop.length > 0) put('stop', 'stopSequences', supports.has('stop'), stop)
  const limit = request.max_output_tokens
  if (limit != null && target.maxOutputTokens !== undefined && limit > target.maxOutputTokens) {
    dropped.push(`max_output_tokens: lowered to ${target.maxOutputTokens}`)
    config['maxOutputTokens'] = target.maxOutputTokens
  } else put('max_output_tokens', 'maxOutputTokens', supports.has('max_tokens'), limit)
  encodeLogprobs(request, target, config, dropped)
  const thinking = encodeThinking(request, target, traits, dropped)
  if (thinking !== undefined) config['thinkingConfig'] = thinking
  encodeImages(request, traits, config, dropped)
  if (request.text?.verbosity != null) dropped.push('text.verbosity')
  for (const field of UNKNOWN_SAMPLING) if (request[field] != null) dropped.push(field)
  return config
}

const UNKNOWN_SAMPLING = ['min_p', 'top_a', 'repetition_penalty', 'logit_bias', 'prediction', 'web_search_options'] as const
const MAX_STOP_SEQUENCES = 5

function encodeLogprobs(request: ModelRequest, { supports }: GeminiTarget, config: Body, dropped: string[]): void {
  const top = request.top_logprobs ?? 0
  if (top <= 0 && request.include?.includes('message.output_text.logprobs') !== true) return
  if (!supports.has('logprobs')) return void dropped.push('top_logprobs')
  config['responseLogprobs'] = true
  if (top > 0 && supports.has('top_logprobs')) config['logprobs'] = top
}

/** Modalities are sent only if they differ from plain text. */
function encodeImages(request: ModelRequest, traits: ModelTraits, config: Body, dropped: string[]): void {
  const wanted = request.modalities?.includes('image') ?? traits.image_output
  if (!wanted || !traits.image_output) return void dropped.push(...unmetImageOptions(request))
  config['responseModalities'] = request.modalities === undefined || request.modalities.includes('text') ? ['TEXT', 'IMAGE'] : ['IMAGE']
  const image = Object.fromEntries(
    Object.entries(request.image_config ?? {}).flatMap(([field, value]) => (IMAGE_FIELDS[field] === undefined ? [] : [[IMAGE_FIELDS[field], value]])),
  )
  if (Object.keys(image).length > 0) config['imageConfig'] = image
  if (Object.keys(image).length < Object.keys(request.image_config ?? {}).length) dropped.push('image_config: fields it does not know')
}

const IMAGE_FIELDS: { readonly [field: string]: string } = { aspect_ratio: 'aspectRatio', image_size: 'imageSize' }

// ---- structured output ----

/** A native format if the endpoint supports it, otherwise through the prompt: older models refuse a schema together with tools. */
function planFormat(request: ModelRequest, { options, supports }: GeminiTarget, traits: ModelTraits, tools: GeminiTools): FormatPlan {
  const format = formatOf(request)
  if (format == null || format.type === 'text') return {}
  const native = (tools.tools.length === 0 && tools.native.size === 0) || traits.tools_with_schema || request.tool_choice === 'none'
  if (format.type === 'json_object') {
    if (native && (supports.has('response_format') || supports.has('structured_outputs'))) return { native: { responseMimeType: 'application/json' } }
    return askForFormat(format)
  }
  if (native && supports.has('structured_outputs')) {
    const schema =
      options.schemas === 'openapi'
        ? { responseSchema: toOpenApiSchema(format.schema, new Unfolding()) }
        : { responseJsonSchema: fitJsonSchema(format.schema, new Unfolding()) }
    return { native: { responseMimeType: 'application/json', ...schema } }
  }
  return askForFormat(format)
}

// ---- account and the rest ----

/** If a header carries the tier, its absence means the default one. */
const HEADER_TIERS: TierWords = { flex: 'flex', priority: 'priority' }
const TIERS: TierWords = { ...HEADER_TIERS, default: 'standard' }

function encodeTier(
  request: ModelRequest,
  target: GeminiTarget,
  dropped: string[],
): { readonly body: Body; readonly headers: { readonly [name: string]: string } } {
  const { service_tier: known, service_tier_header: header } = target.options
  const tier = serviceTierWord(request, target, { known: known || header !== undefined, words: header === undefined ? TIERS : HEADER_TIERS })
  if (tier.dropped) dropped.push('service_tier')
  if (tier.word === undefined) return { body: {}, headers: {} }
  return header === undefined ? { body: { serviceTier: tier.word }, headers: {} } : { body: {}, headers: { [header]: tier.word } }
}

function encodeAccount(request: ModelRequest, options: GeminiOptions, dropped: string[]): Body {
  const body: Body = {}
  const metadata = Object.entries(request.metadata ?? {})
  if (metadata.length > 0) {
    if (options.labels) body['labels'] = Object.fromEntries(metadata.map(([key, value]) => [label(key), label(value)]))
    else dropped.push('metadata')
  }
  for (const field of ['user', 'safety_identifier', 'prompt_cache_options'] as const) if (request[field] != null) dropped.push(field)
  return body
}

/** Labels may contain lower-case letters, digits, dashes and underscores. */
const label = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{Ll}\p{Lo}\d_-]/gu, '_')
    .slice(0, 63)

/** Fields that are handled above, or that have no effect in this format. */
const HANDLED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...UNKNOWN_SAMPLING,
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'stop',
  'stop_sequences',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'include',
  'reasoning',
  'text',
  'client_metadata',
  'service_tier',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_options',
  'prompt_cache_key',
])

/** An unknown field makes the endpoint reject the whole request, so only declared ones are sent. */
function encodeExtras(request: ModelRequest, options: GeminiOptions, dropped: string[]): Body {
  dropped.push(...unmetMembers(request))
  const body: Body = {}
  for (const [field, value] of Object.entries(request)) {
    if (HANDLED.has(field) || value == null) continue
    // Callers cannot change what the operator has set.
    const isSet = field === 'safetySettings' && options.safety_settings.length > 0
    if (!isSet && options.pass_through.includes(field)) body[field] = value
    else if (!(field === 'truncation' && value === 'disabled') && !(field === 'background' && value === false)) dropped.push(field)
  }
  return body
}

function withConstants(body: Body, options: GeminiOptions): Body {
  for (const [field, value] of Object.entries(options.extra_body)) {
    const present = body[field]
    body[field] = isObject(present) && isObject(value) ? { ...present, ...value } : value
  }
  return body
}

import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { Parameter } from '../../core/capability.ts'
import { GATEWAY_FIELDS } from '../../core/request.ts'
import type { ModelRequest } from '../../core/request.ts'
import { accountField } from '../shared/account-name.ts'
import { ANSWER_NAMES } from '../shared/format-plan.ts'
import { isObject } from '../shared/json.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import { serviceTierWord, wordsTaken } from '../shared/service-tier.ts'
import type { TierWords } from '../shared/service-tier.ts'
import { unmetMembers } from '../shared/unmet-members.ts'
import { stopSequences } from '../shared/stop-sequences.ts'
import { flattenTools } from '../shared/tools.ts'
import type { FlatTools } from '../shared/tools.ts'
import { foldTurns } from '../shared/turns.ts'
import { placeBreakpoints } from './cache.ts'
import { encodeImageOutput, keepPicture } from './image-output.ts'
import { encodeMessages } from './messages.ts'
import { callIdsFor, refuses, takesSampling, type OpenAiChatOptions } from './options.ts'
import { encodeReasoning } from './reasoning.ts'
import { planFormat } from './response-format.ts'
import { withRequiredOptions } from './required-options.ts'
import { demandsCall, encodeTools } from './tools.ts'
import { encodeWebSearch, withoutHosted } from './web-search.ts'
import { compiled } from '../shared/pattern.ts'

type ChatTarget = Target<OpenAiChatOptions>
type Body = { [field: string]: unknown }

/** Encodes a request for this endpoint. `dropped` lists what it does not receive. Throws `invalid_prompt` for media that it does not accept. */
export function encodeRequest(request: ModelRequest, endpoint: ChatTarget): EncodedRequest {
  const target = withRequiredOptions(request, endpoint)
  const { options } = target
  const callable = withoutHosted(request.tools, options)
  const tools = target.supports.has('tools') ? toolsOf(request, options) : toolsOf({}, options)
  const dropped = [...tools.dropped]
  if (callable?.length && !target.supports.has('tools')) dropped.push('tools')

  const conversation = foldTurns(request, {
    callIds: callIdsFor(target),
    names: tools.names,
    laterSystem: ['first-only', 'none'].includes(options.system_role) ? 'user-text' : 'in-place',
    alternate: options.alternating_roles,
    keepReasoning: (part) => readable(part, target),
    keepItem: (item) => keepPicture(item, target),
  })
  for (const field of conversation.dropped) dropped.push(field)
  // The loss of its own reasoning is not reported for a server that never accepts any back.
  if (conversation.droppedSealed || (conversation.droppedReasoning && options.reasoning_replay !== 'none'))
    dropped.push('input: reasoning of another provider')

  const format = planFormat(request, target)
  if (format.note !== undefined) dropped.push(format.note)

  const stream = target.stream && !asksWhole(request, target)
  const turns = encodeMessages(conversation, target, format.instruction === undefined ? [] : [format.instruction])
  const { tools: offered = [], ...choice } = encodeTools(tools, format, request, target, dropped)
  const marked = placeBreakpoints({ tools: offered, messages: turns }, request, options, dropped)
  const body: Body = {
    model: target.upstreamModel,
    messages: marked.messages,
    ...(marked.tools.length === 0 ? {} : { tools: marked.tools }),
    ...choice,
    ...(format.native === undefined ? {} : { response_format: format.native }),
    ...encodeParameters(request, target, dropped),
    ...encodeReasoning(request, target, dropped, demandsCall(choice)),
    ...encodeImageOutput(request, options, dropped),
    ...encodeWebSearch(request, options),
    ...encodeAccount(request, options, dropped),
    ...encodeTier(request, target, dropped),
    ...encodeExtras(request, options, dropped),
    stream,
    ...(stream && options.stream_usage ? { stream_options: { include_usage: true } } : {}),
  }
  return {
    method: 'POST',
    path: options.path,
    headers: { 'content-type': 'application/json', accept: stream ? 'text/event-stream' : 'application/json' },
    body: JSON.stringify(finishBody(body, options)),
    dropped: [...new Set(dropped)],
  }
}

/** Whether the answer must not be streamed: schemas that exclude streams, or every answer if the operator wants no stream. */
export const asksWhole = (request: ModelRequest, target: Pick<ChatTarget, 'options' | 'upstreamModel' | 'supports'>): boolean =>
  target.options.extra_body['stream'] === false ||
  (!target.options.streamed_schemas && request.text?.format?.type === 'json_schema' && planFormat(request, target).native?.['type'] === 'json_schema')

/** The caller's tools under names that this endpoint accepts; the decoder calls this again for the reverse mapping. */
export function toolsOf(request: Pick<ModelRequest, 'tools' | 'tool_choice'>, options: OpenAiChatOptions): FlatTools {
  const tools = withoutHosted(request.tools, options)
  const source =
    tools === request.tools
      ? request
      : { ...(tools === undefined ? {} : { tools }), ...(request.tool_choice === undefined ? {} : { tool_choice: request.tool_choice }) }
  return flattenTools(source, { pattern: compiled(options.tool_names.pattern), max: options.tool_names.max, taken: ANSWER_NAMES })
}

/** Readable text may be replayed anywhere; signed or opaque reasoning only where it was minted. */
function readable(part: ReasoningPart, target: ChatTarget): boolean {
  const { options } = target
  const signed = part.signature !== undefined || part.data !== undefined
  if (part.scope !== undefined && part.scope !== target.scope && signed) return false
  if (part.signs === 'call' && part.data !== undefined) return options.tool_extra !== null
  if (options.tool_signature_path.length > 0 && part.signature !== undefined) return part.format === options.reasoning_format
  if (options.reasoning_replay === 'none') return false
  // Without an envelope the origin is unproven. Details go back to a router, which knows formats; other servers only get plain text.
  return options.reasoning_replay === 'reasoning_details' || !signed || part.scope === target.scope
}

/** Request fields that are chat fields of the same name, and the parameter that an endpoint must support to receive them. */
const PLAIN_FIELDS: readonly (readonly [field: string, parameter: Parameter])[] = [
  ['temperature', 'temperature'],
  ['top_p', 'top_p'],
  ['top_k', 'top_k'],
  ['min_p', 'min_p'],
  ['top_a', 'top_a'],
  ['presence_penalty', 'presence_penalty'],
  ['frequency_penalty', 'frequency_penalty'],
  ['repetition_penalty', 'repetition_penalty'],
  ['seed', 'seed'],
  ['stop', 'stop'],
  ['logit_bias', 'logit_bias'],
  ['prediction', 'prediction'],
  ['web_search_options', 'web_search_options'],
]
const SAMPLING: ReadonlySet<string> = new Set(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs', 'logit_bias'])

/** As the caller wrote it, a single one or a list, without empty ones. */
function stopOf(request: ModelRequest, { max_stop_sequences: max }: ChatTarget['options'], dropped: string[]): unknown {
  const stop = request['stop']
  if (stop == null) return undefined
  const sequences = stopSequences(request, max === undefined ? {} : { max }, dropped)
  return sequences.length === 0 ? undefined : typeof stop === 'string' ? stop : sequences
}

function encodeParameters(request: ModelRequest, target: ChatTarget, dropped: string[]): Body {
  const { options, supports } = target
  const body: Body = {}
  const samples = takesSampling(target)
  const allowed = (field: string, parameter: Parameter): boolean => {
    if (supports.has(parameter) && (samples || !SAMPLING.has(field)) && !refuses(target, field)) return true
    dropped.push(field)
    return false
  }
  for (const [field, parameter] of PLAIN_FIELDS) {
    const value = field === 'stop' ? stopOf(request, options, dropped) : request[field]
    if (value == null || !allowed(field, parameter)) continue
    body[field] = field === 'temperature' && typeof value === 'number' ? temperatureOf(value, options, dropped) : value
  }
  Object.assign(body, encodeBound(request, target, dropped))
  const wantsLogprobs = request.include?.includes('message.output_text.logprobs') === true
  if ((request.top_logprobs != null && request.top_logprobs > 0) || wantsLogprobs) {
    if (allowed('top_logprobs', 'logprobs')) {
      body['logprobs'] = true
      if (request.top_logprobs != null && supports.has('top_logprobs')) body['top_logprobs'] = request.top_logprobs
    }
  }
  const verbosity = request.text?.verbosity
  if (verbosity != null) {
    if (supports.has('verbosity')) body['verbosity'] = verbosity
    else dropped.push('text.verbosity')
  }
  return body
}

function encodeBound(request: ModelRequest, target: ChatTarget, dropped: string[]): Body {
  const { options, supports } = target
  const limit = request.max_output_tokens ?? ownBound(target)
  if (limit === undefined) return {}
  if (supports.has('max_tokens') || supports.has('max_completion_tokens'))
    return { [options.max_tokens_field]: lowered('max_output_tokens', limit, target.maxOutputTokens, dropped) }
  dropped.push('max_output_tokens')
  return {}
}

/** The limit of an answer without the caller's own, for servers with a small default. */
function ownBound({ options: { default_max_tokens: own }, maxOutputTokens, contextLength }: ChatTarget): number | undefined {
  return own === undefined ? undefined : Math.max(1, Math.min(own, maxOutputTokens ?? own, Math.floor(contextLength / 4)))
}

function temperatureOf(value: number, { min_temperature: min = 0, max_temperature: max }: OpenAiChatOptions, dropped: string[]): number {
  if (value >= min) return lowered('temperature', value, max, dropped)
  dropped.push(`temperature: raised to ${min}`)
  return min
}

function lowered(field: string, value: number, limit: number | undefined, dropped: string[]): number {
  if (limit === undefined || value <= limit) return value
  dropped.push(`${field}: lowered to ${limit}`)
  return limit
}

const ACCOUNT_FIELDS = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_options'] as const

function encodeAccount(request: ModelRequest, options: OpenAiChatOptions, dropped: string[]): Body {
  const body: Body = {}
  for (const field of ACCOUNT_FIELDS) {
    const value = request[field]
    if (value == null || (isObject(value) && Object.keys(value).length === 0)) continue
    if (options.forward.includes(field)) body[field] = accountField(field, value, options.max_user_length)
    // A cache key is useful even if it is not sent: it keeps the session at one endpoint.
    else if (field !== 'prompt_cache_key') dropped.push(field)
  }
  return body
}

const TIERS: TierWords = { auto: 'auto', default: 'default', flex: 'flex', priority: 'priority', scale: 'scale' }

function encodeTier(request: ModelRequest, target: ChatTarget, dropped: string[]): Body {
  const { forward, tier_names: names, service_tiers: taken } = target.options
  const tier = serviceTierWord(request, target, { known: forward.includes('service_tier'), words: wordsTaken({ ...TIERS, ...names }, taken) })
  if (tier.dropped) dropped.push('service_tier')
  return tier.word === undefined ? {} : { service_tier: tier.word }
}

/** Fields that are handled above, or that have no effect in this format. */
const HANDLED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...ACCOUNT_FIELDS,
  'service_tier',
  ...PLAIN_FIELDS.map(([field]) => field),
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'top_logprobs',
  'include',
  'reasoning',
  'text',
  'client_metadata',
])

/** Unknown fields are sent only to a server that is declared to know them: many refuse a request with others. */
function encodeExtras(request: ModelRequest, options: OpenAiChatOptions, dropped: string[]): Body {
  dropped.push(...unmetMembers(request))
  const body: Body = {}
  for (const [field, value] of Object.entries(request)) {
    if (HANDLED.has(field) || value == null) continue
    if (options.pass_through.includes(field)) body[field] = value
    else if (!(field === 'truncation' && value === 'disabled') && !(field === 'background' && value === false)) dropped.push(field)
  }
  return body
}

/** The server's constant fields and its own names of fields come last, because they may correct anything above. */
function finishBody(body: Body, options: OpenAiChatOptions): Body {
  const merged: Body = { ...body }
  for (const [field, value] of Object.entries(options.extra_body)) {
    const present = merged[field]
    merged[field] = isObject(present) && isObject(value) ? { ...present, ...value } : value
  }
  const renames = Object.entries(options.field_names).filter(([field]) => field in merged)
  for (const [field, name] of renames) {
    merged[name] = merged[field]
    delete merged[field]
  }
  return merged
}

import type { EncodedRequest } from '../../core/dialect.ts'
import { asksToPrewarm } from '../../core/prewarm.ts'
import { GATEWAY_FIELDS } from '../../core/request.ts'
import type { ModelRequest } from '../../core/request.ts'
import { hashedName } from '../shared/id-map.ts'
import { isObject } from '../shared/json.ts'
import { unmetImageOptions } from '../shared/image-output.ts'
import { serviceTierWord } from '../shared/service-tier.ts'
import type { TierWords } from '../shared/service-tier.ts'
import { unmetMembers } from '../shared/unmet-members.ts'
import { stopSequences } from '../shared/stop-sequences.ts'
import { foldTurns } from '../shared/turns.ts'
import type { Turn } from '../shared/conversation.ts'
import { modelSegment } from '../shared/model-segment.ts'
import { placeBreakpoints } from './cache.ts'
import type { Block } from './content.ts'
import { encodeMessages, encodeSystem, finishPrefill, isLoopWithoutThinking, isReadable } from './messages.ts'
import { rulesFor } from './options.ts'
import type { AnthropicMessagesOptions, MessagesTarget, ModelRules } from './options.ts'
import { withoutAnswer } from './prewarm.ts'
import { planFormat } from './response-format.ts'
import { blocksOfItem } from './server-blocks.ts'
import { planThinking, withStaleThoughts } from './thinking.ts'
import { withRequiredOptions, thinkBeforeCalls } from './required-options.ts'
import { encodeTools, planTools, toolsetsOf } from './tools.ts'
import { compiled } from '../shared/pattern.ts'

type Body = { [field: string]: unknown }

/** Encodes a request for this endpoint. `dropped` lists what it does not receive. Throws `invalid_prompt` for media that it does not accept. */
export function encodeRequest(request: ModelRequest, endpoint: MessagesTarget): EncodedRequest {
  const isPrewarmed = asksToPrewarm(request)
  const required = withRequiredOptions(request, endpoint)
  // Such a request is refused as a stream.
  const target = isPrewarmed ? { ...required, stream: false } : required
  const { options } = target
  const rules = rulesFor(target)
  const hasTools = target.supports.has('tools')
  const plan = planTools(hasTools ? request : {}, options)
  const dropped = [...plan.flat.dropped]
  if (!hasTools && request.tools?.length) dropped.push('tools')

  const conversation = foldTurns(request, {
    callIds: { pattern: compiled(options.tool_ids.pattern), max: options.tool_ids.max },
    names: plan.flat.names,
    laterSystem: rules.later_system,
    alternate: true,
    keepReasoning: (part) => isReadable(part, target),
    keepItem: (item) => blocksOfItem(item, target) !== undefined,
    toolsets: toolsetsOf(plan),
  })
  for (const field of conversation.dropped) dropped.push(field)
  if (conversation.droppedReasoning || sealedItems(request) > sealedParts(conversation.turns))
    dropped.push('input: reasoning this endpoint cannot read')

  const format = planFormat(request, target)
  if (format.note !== undefined) dropped.push(format.note)
  const tools = encodeTools(plan, format, calledTools(conversation.turns), request, target, dropped)
  const system = encodeSystem(conversation, target, format.instruction === undefined ? [] : [format.instruction])
  const messages = encodeMessages(conversation.turns, target, new Set(plan.native.map(({ name }) => String(name))))
  thinkBeforeCalls(request, messages)
  const thinking = planThinking(request, target, rules, { forcedTool: tools.forced, loopWithoutThinking: isLoopWithoutThinking(messages) }, dropped)
  finishPrefill(messages, rules.prefill && !thinking.active, dropped)
  placeBreakpoints({ tools: tools.fields.tools ?? [], system, messages }, request, options, dropped)
  const thoughts = withStaleThoughts(thinking.thinking, rules, messages)
  // Citations and structured output exclude each other.
  if (format.native !== undefined) withoutCitations(messages)

  const output = {
    ...(thinking.effort === undefined ? {} : { effort: thinking.effort }),
    ...(format.native === undefined ? {} : { format: format.native }),
  }
  const answered: Body = {
    max_tokens: thinking.maxTokens,
    ...tools.fields,
    ...(system.length === 0 ? {} : { system }),
    messages,
    ...(thoughts === undefined ? {} : { thinking: thoughts }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...encodeSampling(request, target, rules, thinking.active, dropped),
    ...encodeAccount(request, target, dropped),
    ...encodeExtras(request, options, dropped),
  }
  const fields = isPrewarmed ? withoutAnswer(answered, dropped) : answered
  const on = betasOf(fields, options)
  const betas = [...new Set([...on, ...askedBetas(request, rules, on, dropped)])]
  const body: Body = { ...addressFields(target, betas), ...fields }
  return {
    method: 'POST',
    path: pathFor(target),
    headers: headersFor(target, betas),
    body: JSON.stringify(withConstants(body, options.extra_body)),
    dropped: [...new Set(dropped)],
  }
}

function pathFor({ options, upstreamModel, stream }: MessagesTarget): string {
  const path = stream ? (options.stream_path ?? options.path) : options.path
  return path.replace('{model}', () => modelSegment(upstreamModel).replaceAll('%40', '@'))
}

/** The beta features of this endpoint, and those that fields of this request require. */
function betasOf(body: Body, { betas, field_betas: needed }: AnthropicMessagesOptions): readonly string[] {
  const more = needed.flatMap(({ field, match, betas: names }) => {
    const value = body[field]
    if (value === undefined) return []
    return match === undefined || compiled(match).test(field === 'tools' ? typesOf(value) : JSON.stringify(value)) ? names : []
  })
  return [...betas, ...more]
}

/**
 * The caller's beta features that this endpoint is known to understand. With others it might refuse the call, or answer in a way that the gateway
 * cannot read.
 */
function askedBetas(
  { vendor_betas: requested = [] }: ModelRequest,
  { caller_betas: allowed }: ModelRules,
  on: readonly string[],
  dropped: string[],
): readonly string[] {
  return requested.filter((name) => {
    const isAllowed = on.includes(name) || allowed.some((one) => compiled(one).test(name))
    if (!isAllowed) dropped.push(`beta feature ${name}`)
    return isAllowed
  })
}

/** Names and descriptions may contain anything, so only types are searched. */
const typesOf = (tools: unknown): string => (tools as readonly Body[]).map(({ type }) => String(type)).join(' ')

/** Fields that other endpoints have in the path or in headers. */
function addressFields({ options, upstreamModel, stream }: MessagesTarget, betas: readonly string[]): Body {
  return {
    ...(options.version_in === 'body' ? { anthropic_version: options.version } : {}),
    ...(options.betas_in === 'body' && betas.length > 0 ? { anthropic_beta: betas } : {}),
    ...(options.model_in_body ? { model: upstreamModel } : {}),
    ...(options.stream_in_body ? { stream } : {}),
  }
}

function headersFor({ options, stream }: MessagesTarget, betas: readonly string[]): { readonly [name: string]: string } {
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    ...(options.version_in === 'header' ? { 'anthropic-version': options.version } : {}),
    ...(options.betas_in === 'header' && betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
  }
}

/** Reasoning items with a blob; those that this gateway did not mint never become part of a turn. */
const sealedItems = (request: ModelRequest): number =>
  request.input.filter((item) => item.type === 'reasoning' && 'encrypted_content' in item && item.encrypted_content).length
const sealedParts = (turns: readonly Turn[]): number =>
  turns.reduce(
    (count, turn) =>
      count + (turn.role === 'assistant' ? turn.parts.filter((part) => part.type === 'reasoning' && part.scope !== undefined).length : 0),
    0,
  )

const calledTools = (turns: readonly Turn[]): string[] =>
  turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.type === 'call' ? [part.name] : [])) : []))

function withoutCitations(messages: readonly { readonly content: readonly Block[] }[]): void {
  for (const { content } of messages) {
    for (const block of content) {
      delete block['citations']
      if (block.type === 'tool_result' && Array.isArray(block['content'])) for (const inner of block['content'] as Block[]) delete inner['citations']
    }
  }
}

// ---- parameters ----

const SAMPLING = ['temperature', 'top_p', 'top_k'] as const

function encodeSampling(request: ModelRequest, target: MessagesTarget, rules: ModelRules, thinks: boolean, dropped: string[]): Body {
  const body: Body = {}
  for (const field of SAMPLING) {
    const value = request[field]
    if (value == null) continue
    const refused =
      rules.sampling === 'none' ||
      thinks ||
      !target.supports.has(field) ||
      (rules.sampling === 'one' && field === 'top_p' && body['temperature'] !== undefined)
    if (refused) dropped.push(field)
    else body[field] = value
  }
  const { max_temperature: limit } = target.options
  if (typeof body['temperature'] === 'number' && body['temperature'] > limit) {
    body['temperature'] = limit
    dropped.push(`temperature: lowered to ${limit}`)
  }
  const sequences = stopSequences(request, { blank: false }, dropped)
  if (sequences.length > 0) {
    if (target.supports.has('stop')) body['stop_sequences'] = sequences
    else dropped.push('stop')
  }
  return body
}

function encodeAccount(request: ModelRequest, target: MessagesTarget, dropped: string[]): Body {
  const { options } = target
  const body: Body = {}
  const { user, safety_identifier: identifier } = request
  // There is one field for both.
  const sent = options.forward_user ? user || identifier : undefined
  if (sent) body['metadata'] = { user_id: opaqueUser(sent) }
  if (user && user !== sent) dropped.push('user')
  if (identifier && identifier !== sent) dropped.push('safety_identifier')
  const tier = serviceTierWord(request, target, { known: options.service_tier, words: options.service_tier ? TIERS : {} })
  if (tier.word !== undefined) body['service_tier'] = tier.word
  if (tier.dropped) dropped.push('service_tier')
  return body
}

const MAX_USER_CHARS = 256
/** An e-mail address anywhere in the text, or a telephone number. */
const PERSONAL = /@|^\+?[\d\s().-]{7,}$/

/** A stable pseudonym for the user: the whole call is refused for a name that looks like an e-mail address or a telephone number, or is too long. */
function opaqueUser(user: string): string {
  return PERSONAL.test(user) || user.length > MAX_USER_CHARS ? hashedName(user, 32) : user
}

/**
 * Tiers of this format choose between capacity bought in advance and the rest, and asking for one makes nothing cheaper or faster. So the field is
 * sent only to servers that are known to accept it, even for an endpoint that stands for a tier.
 */
const TIERS: TierWords = { default: 'standard_only', priority: 'auto' }

/** Fields that are handled above, or that have no effect in this format. */
const HANDLED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...SAMPLING,
  'stop',
  'stop_sequences',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'include',
  'reasoning',
  'text',
  'user',
  'safety_identifier',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_options',
  'client_metadata',
])

/** Unknown fields are sent only to a server that is declared to know them: others refuse the request. */
function encodeExtras(request: ModelRequest, options: AnthropicMessagesOptions, dropped: string[]): Body {
  const body: Body = {}
  dropped.push(...unmetImageOptions(request), ...unmetMembers(request))
  if (request.text?.verbosity != null) dropped.push('text.verbosity')
  for (const [field, value] of Object.entries(request)) {
    if (HANDLED.has(field) || value == null) continue
    const saysNothing =
      (field === 'truncation' && value === 'disabled') ||
      (field === 'background' && value === false) ||
      (field === 'top_logprobs' && value === 0) ||
      (isObject(value) && Object.keys(value).length === 0)
    if (options.pass_through.includes(field)) body[field] = value
    else if (!saysNothing) dropped.push(field)
  }
  if (request.include?.includes('message.output_text.logprobs') === true) dropped.push('top_logprobs')
  return body
}

function withConstants(body: Body, extra: { readonly [field: string]: unknown }): Body {
  const merged: Body = { ...body }
  for (const [field, value] of Object.entries(extra)) {
    const present = merged[field]
    merged[field] = isObject(present) && isObject(value) ? { ...present, ...value } : value
  }
  return merged
}

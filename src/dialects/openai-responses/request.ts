import type { EncodedRequest, Target } from '../../core/dialect.ts'
import { isKnownItem, toolsGiven, type JsonObject, type Tool } from '../../core/item.ts'
import { asksToPrewarm } from '../../core/prewarm.ts'
import { GATEWAY_FIELDS, MAX_TOOL_CALLS } from '../../core/request.ts'
import type { ModelRequest } from '../../core/request.ts'
import { accountField } from '../shared/account-name.ts'
import { visitParts } from '../shared/content-parts.ts'
import { unmetImageOptions } from '../shared/image-output.ts'
import { requestedReasoning } from '../shared/reasoning-options.ts'
import { serviceTierWord, wordsTaken } from '../shared/service-tier.ts'
import type { TierWords } from '../shared/service-tier.ts'
import { stopSequences } from '../shared/stop-sequences.ts'
import { FOREIGN, FOREIGN_REPORTED, GATED, HANDLED, IMAGE_FIELDS, isDisguised, OPTIONAL, PLAIN, STATEFUL } from './fields.ts'
import { encodeInput } from './input.ts'
import { remoteUrls } from './message-parts.ts'
import { effortsFor, takesCacheOptions } from './options.ts'
import type { ResponsesOptions } from './options.ts'
import { encodeReasoningOptions, reasons } from './reasoning.ts'
import { parameterOf, takesFormat, writtenFormat } from './text-format.ts'
import { encodeTools } from './tools.ts'

type ResponsesTarget = Target<ResponsesOptions>
type Body = { [field: string]: unknown }

const ENCRYPTED = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/**
 * Encodes the request for this endpoint: the caller's fields almost unchanged, with the upstream's model, nothing stored, and without everything that
 * the endpoint refuses, which is listed in `dropped`.
 */
export function encodeResponsesRequest(request: ModelRequest, target: ResponsesTarget): EncodedRequest {
  const { options } = target
  const dropped = new Set<string>()
  const body: Body = { model: target.upstreamModel }
  for (const [field, value] of Object.entries(request)) {
    if (value == null || GATEWAY_FIELDS.has(field) || HANDLED.has(field) || FOREIGN.has(field)) continue
    const written = fieldOf(field, request, options, dropped)
    if (written !== undefined && isTaken(field, value, request, target, dropped)) body[field] = written
  }
  if (!options.image_output) for (const note of unmetImageOptions(request)) dropped.add(note)
  else for (const field of IMAGE_FIELDS) if (request[field] !== undefined) body[field] = request[field]
  const { tools, choice, names } = encodeTools(request, options, target.supports, dropped)
  body['input'] = encodeInput(request.input, target, names, dropped)
  if (tools !== undefined) {
    body['tools'] = tools
    if (choice !== undefined) body['tool_choice'] = choice
    addParallelCalls(body, request, target, dropped)
  }
  addToolBudget(body, request, tools, options, dropped)
  addOutputLimit(body, request, target, dropped)
  const initial = initialOf(request)
  addReasoning(body, initial, target, dropped)
  addText(body, initial, target, dropped)
  addInclude(body, request, target, dropped)
  addServiceTier(body, request, target, dropped)
  Object.assign(body, options.extra_body)
  body['stream'] = target.stream
  if (target.stream && options.suppress_obfuscation) body['stream_options'] = { include_obfuscation: false }
  if (options.store) body['store'] = false
  return {
    method: 'POST',
    path: options.path,
    headers: { 'content-type': 'application/json', accept: target.stream ? 'text/event-stream' : 'application/json' },
    body: JSON.stringify(body),
    dropped: [...dropped],
  }
}

/** With the settings from before the changes in its input, which the endpoint reads there. */
function initialOf(request: ModelRequest): ModelRequest {
  const { initial_settings: initial } = request
  return initial === undefined ? request : { ...request, reasoning: initial.reasoning, text: initial.text }
}

/** URLs that the gateway must fetch because the endpoint cannot. */
export function responsesMediaUrls(request: ModelRequest, target: ResponsesTarget): readonly string[] {
  if (!target.options.inline_media) return []
  const urls = new Set<string>()
  const taken: readonly string[] = target.options.input_parts
  visitParts(request.input.filter(isKnownItem), (part) => {
    if (taken.includes(part.type)) for (const url of remoteUrls(part)) urls.add(url)
  })
  return [...urls]
}

function isTaken(field: string, value: unknown, request: ModelRequest, target: ResponsesTarget, dropped: Set<string>): boolean {
  const { options, supports } = target
  if (PLAIN.has(field)) return true
  const gate = GATED.get(field)
  const option = OPTIONAL.get(field)
  let taken: boolean
  if (gate !== undefined) taken = gate.some((parameter) => supports.has(parameter)) && !isRefused(field, request, target)
  else if (option !== undefined) taken = option === 'prompt_cache_options' ? takesCacheOptions(target) : options[option]
  else if (STATEFUL.has(field)) {
    if (value === false) return false
    taken = false
  } else taken = options.unknown_fields === 'forward' && !FOREIGN_REPORTED.has(field) && !isDisguised(field)
  if (!taken) dropped.add(field)
  return taken
}

function fieldOf(field: string, request: ModelRequest, options: ResponsesOptions, dropped: Set<string>): unknown {
  if (field === 'stop') return stopOf(request)
  if (field === 'prompt_cache_options') return cacheOptionsOf(request, dropped)
  return accountField(field, request[field], options.max_user_length)
}

function cacheOptionsOf({ prompt_cache_options: options }: ModelRequest, dropped: Set<string>): unknown {
  const { comparison_response_id: compared, ...others } = options ?? {}
  if (compared != null) dropped.add('prompt_cache_options.comparison_response_id')
  return Object.keys(others).length === 0 ? undefined : others
}

/** As the caller wrote it, a single one or a list, without empty ones. */
function stopOf(request: ModelRequest): unknown {
  const sequences = stopSequences(request, {}, [])
  return sequences.length === 0 ? undefined : typeof request['stop'] === 'string' ? request['stop'] : sequences
}

/** Sampling parameters, which models refuse while they reason. */
const SAMPLING: ReadonlySet<string> = new Set(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'])

function isRefused(field: string, request: ModelRequest, target: ResponsesTarget): boolean {
  const { options } = target
  if (!SAMPLING.has(field)) return false
  if ((field === 'presence_penalty' || field === 'frequency_penalty') && !options.penalties) return true
  if (options.sampling_parameters === 'drop-when-reasoning') return reasonsHere(request, target)
  return options.sampling_parameters === 'drop' && (field === 'temperature' || field === 'top_p')
}

/** Whether the model will reason about this request. */
function reasonsHere(request: ModelRequest, target: ResponsesTarget): boolean {
  const { options, upstreamModel } = target
  // Reasoning options that do not reach the model have no effect.
  const mode = reasons(target.supports) ? requestedReasoning(request.reasoning).mode : 'default'
  if (mode === 'on') return true
  if (mode === 'off') {
    const efforts = effortsFor(target)
    if (efforts.includes('none') || options.reasoning_budget) return false
    // Told not to reason, it gets its least effort, and reasons.
    if (efforts.length > 0) return true
  }
  return options.reasoning_models !== undefined && new RegExp(options.reasoning_models).test(upstreamModel)
}

function addParallelCalls(body: Body, request: ModelRequest, { supports }: ResponsesTarget, dropped: Set<string>): void {
  const parallel = request.parallel_tool_calls
  if (parallel == null) return
  if (supports.has('parallel_tool_calls')) body['parallel_tool_calls'] = parallel
  else if (!parallel) dropped.add('parallel_tool_calls')
}

/** Tools that the caller or the gateway runs, where their calls are counted, and what holds other tools. */
const RUN_ELSEWHERE: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace'])

/** Only the endpoint can count calls of tools that it runs itself before they are paid for, so it gets the limit. */
function addToolBudget(
  body: Body,
  { max_tool_calls: budget, input }: ModelRequest,
  tools: readonly JsonObject[] | undefined,
  options: ResponsesOptions,
  dropped: Set<string>,
): void {
  if (budget == null || toolsGiven({ tools: tools as readonly Tool[] | undefined, input }).every(({ type }) => RUN_ELSEWHERE.has(type))) return
  if (options.max_tool_calls) body['max_tool_calls'] = Math.min(budget, MAX_TOOL_CALLS)
  else dropped.add('max_tool_calls')
}

function addOutputLimit(body: Body, request: ModelRequest, { options, supports }: ResponsesTarget, dropped: Set<string>): void {
  // A server that does not know what is asked for would write all of an answer.
  const limit = asksToPrewarm(request) ? options.min_output_tokens : request.max_output_tokens
  if (limit == null) return
  if (!supports.has('max_tokens') && !supports.has('max_completion_tokens')) {
    dropped.add('max_output_tokens')
    return
  }
  body['max_output_tokens'] = Math.max(limit, options.min_output_tokens)
  if (limit < options.min_output_tokens) dropped.add(`max_output_tokens: ${limit} became ${options.min_output_tokens}`)
}

function addReasoning(body: Body, request: ModelRequest, target: ResponsesTarget, dropped: Set<string>): void {
  if (request.reasoning == null) return
  if (!reasons(target.supports)) {
    // An endpoint without reasoning does not reason anyway, so only a request for reasoning is reported.
    if (requestedReasoning(request.reasoning).mode === 'on') dropped.add('reasoning')
    return
  }
  const reasoning = encodeReasoningOptions(request, target, dropped)
  if (reasoning !== undefined) body['reasoning'] = reasoning
}

function addText(body: Body, request: ModelRequest, { options, supports }: ResponsesTarget, dropped: Set<string>): void {
  if (request.text == null) return
  const { format, verbosity, ...rest } = request.text
  const text: Body = { ...rest }
  if (format != null) {
    if (takesFormat(format, supports)) text['format'] = writtenFormat(format, options, dropped)
    else dropped.add(parameterOf(format))
  }
  if (verbosity != null) {
    if (!supports.has('verbosity')) dropped.add('verbosity')
    else {
      const known: readonly string[] = options.verbosities
      const allowed = known.includes(verbosity) ? verbosity : known.at(-1)
      if (allowed !== undefined) text['verbosity'] = allowed
      if (allowed !== verbosity) dropped.add(allowed === undefined ? 'verbosity' : `verbosity: ${verbosity} became ${allowed}`)
    }
  }
  if (Object.keys(text).length > 0) body['text'] = text
}

function addInclude(body: Body, request: ModelRequest, target: ResponsesTarget, dropped: Set<string>): void {
  const { options, supports } = target
  const requested = new Set(request.include ?? [])
  const include = new Set(requested)
  const lacksLogprobs = (!supports.has('logprobs') && !supports.has('top_logprobs')) || isRefused('logprobs', request, target)
  if (lacksLogprobs && include.delete(LOGPROBS)) dropped.add('logprobs')
  if (!options.encrypted_reasoning || !reasons(supports)) {
    if (include.delete(ENCRYPTED)) dropped.add(`include: ${ENCRYPTED}`)
  } else if (wantsEncrypted(body, request, options)) include.add(ENCRYPTED)
  if (include.size > 0) body['include'] = [...include]
}

function wantsEncrypted(body: Body, request: ModelRequest, { include_reasoning: when }: ResponsesOptions): boolean {
  const mode = requestedReasoning(request.reasoning).mode
  if (when === 'asked' || mode === 'off') return false
  const replays = (body['input'] as readonly { readonly type?: unknown }[]).some((item) => item.type === 'reasoning')
  return when === 'always' || mode === 'on' || replays
}

const TIERS: TierWords = { auto: 'auto', default: 'default', flex: 'flex', priority: 'priority', scale: 'scale' }

function addServiceTier(body: Body, request: ModelRequest, target: ResponsesTarget, dropped: Set<string>): void {
  const { service_tier: known, service_tiers: taken } = target.options
  const tier = serviceTierWord(request, target, { known, words: wordsTaken(TIERS, taken) })
  if (tier.word !== undefined) body['service_tier'] = tier.word
  if (tier.dropped) dropped.add('service_tier')
}

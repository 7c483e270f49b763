import type { EncodedRequest } from '../../core/dialect.ts'
import { GATEWAY_FIELDS } from '../../core/request.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { JsonObject } from '../../core/item.ts'
import { askForFormat, formatOf, isOfObjects, OBJECT_INSTRUCTION, type FormatPlan } from '../shared/format-plan.ts'
import { unmetImageOptions } from '../shared/image-output.ts'
import { effortBudget, requestedReasoning } from '../shared/reasoning-options.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import { objectAtTop } from '../shared/sanitize-schema.ts'
import { serviceTierWord } from '../shared/service-tier.ts'
import type { NameRule } from '../shared/tool-names.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { unmetMembers } from '../shared/unmet-members.ts'
import { stopSequences } from '../shared/stop-sequences.ts'
import { flattenTools } from '../shared/tools.ts'
import type { FlatTools } from '../shared/tools.ts'
import { foldTurns } from '../shared/turns.ts'
import { Documents } from './content.ts'
import type { CohereTarget } from './content.ts'
import { encodeMessages, PLAN, THINKING } from './messages.ts'
import { matchesModel } from './options.ts'

type Body = { [field: string]: unknown }

const TOOL_NAMES: NameRule = { pattern: /^[a-zA-Z_][a-zA-Z0-9_]*$/, max: 64 }
const CALL_IDS = { pattern: /^[a-zA-Z0-9_-]+$/, max: 128 }
/** Assumed if the length of the answer is not limited; budgets are shares of it. */
const ASSUMED_OUTPUT_TOKENS = 32_000

/** A request for `chat`. Lists in `dropped` what this endpoint does not receive. */
export function encodeRequest(request: ModelRequest, target: CohereTarget): EncodedRequest {
  const { options } = target
  const usesTools = target.supports.has('tools')
  const flat = toolsOf(usesTools ? request : {})
  const dropped = [...flat.dropped]
  if (request.tools?.length && !usesTools) dropped.push('tools')
  const conversation = foldTurns(request, {
    callIds: CALL_IDS,
    names: flat.names,
    laterSystem: 'in-place',
    alternate: false,
    keepReasoning: (part) => isOwn(part, target),
  })
  for (const field of conversation.dropped) dropped.push(field)
  // The loss of its own reasoning is not reported for a server that never accepts any back.
  if (conversation.droppedSealed || (conversation.droppedReasoning && options.reasoning_replay !== 'none'))
    dropped.push('input: reasoning of another provider')

  const documents = new Documents()
  const tools = encodeTools(flat, request, target, dropped)
  const format = planFormat(request, target, 'tools' in tools)
  const messages = encodeMessages(conversation, target, format.instruction === undefined ? [] : [format.instruction], documents)
  if (format.note !== undefined) dropped.push(format.note)
  const body: Body = {
    model: target.upstreamModel,
    messages,
    ...tools,
    ...(documents.list.length > 0 ? { documents: documents.list } : {}),
    ...(format.native === undefined ? {} : { response_format: format.native }),
    ...encodeParameters(request, target, dropped),
    ...encodeThinking(request, target, dropped),
    ...(options.safety_mode === undefined ? {} : { safety_mode: options.safety_mode }),
    ...(options.citation_mode === undefined ? {} : { citation_options: { mode: options.citation_mode } }),
    stream: target.stream,
  }
  noteIgnored(request, dropped)
  // This format has no tiers, not even for an endpoint that is declared as one.
  if (serviceTierWord(request, target, { known: false, words: {} }).dropped) dropped.push('service_tier')
  return {
    method: 'POST',
    path: options.path,
    headers: { 'content-type': 'application/json', accept: target.stream ? 'text/event-stream' : 'application/json' },
    body: JSON.stringify(body),
    dropped: [...new Set(dropped)],
  }
}

/** The caller's tools under names that this format accepts; the decoder calls this again for the reverse mapping. */
export function toolsOf(request: Pick<ModelRequest, 'tools' | 'tool_choice'>): FlatTools {
  return flattenTools(request, TOOL_NAMES)
}

/** Plans and thoughts go back only to the provider that wrote them; the model would take others' reasoning for its own. */
function isOwn(part: ReasoningPart, target: CohereTarget): boolean {
  return part.scope === target.scope && part.text !== '' && (part.data === PLAN || part.data === THINKING)
}

function encodeTools(flat: FlatTools, request: ModelRequest, target: CohereTarget, dropped: string[]): Body {
  let { tools } = flat
  const { choice } = flat
  // A tool cannot be chosen by name, so only that tool is offered.
  if (choice?.mode === 'named') tools = tools.filter((tool) => tool.name === choice.name)
  if (tools.length === 0) return {}
  const unfolding = new Unfolding()
  const encoded = tools.map(({ name, description, parameters }): JsonObject => ({
    type: 'function',
    function: { name, ...(description === undefined ? {} : { description }), parameters: objectAtTop(parameters, unfolding) },
  }))
  const word = choice?.mode === 'none' ? 'NONE' : choice?.mode === 'required' || choice?.mode === 'named' ? 'REQUIRED' : undefined
  const hasChoice = target.supports.has('tool_choice')
  if (word !== undefined && !hasChoice) {
    if (word === 'NONE') return {}
    dropped.push('tool_choice')
  }
  if (request.parallel_tool_calls === false) dropped.push('parallel_tool_calls')
  const strict = target.options.strict_tools && tools.every((tool) => tool.strict === true)
  return { tools: encoded, ...(word === undefined || !hasChoice ? {} : { tool_choice: word }), ...(strict ? { strict_tools: true } : {}) }
}

function planFormat(request: ModelRequest, target: CohereTarget, hasTools: boolean): FormatPlan {
  const format = formatOf(request)
  if (format == null || format.type === 'text') return {}
  const native = target.supports.has('structured_outputs') && (target.options.schema_with_tools || !(hasTools || hasFiles(request)))
  // Its schemas must be objects.
  if (!native || (format.type === 'json_schema' && !isOfObjects(format))) return askForFormat(format)
  if (format.type === 'json_schema') return { native: { type: 'json_object', json_schema: format.schema } }
  // Unless told to write JSON, the model may never stop.
  return { native: { type: 'json_object' }, instruction: OBJECT_INSTRUCTION }
}

const hasFiles = (request: ModelRequest): boolean =>
  request.input.some(
    (item) =>
      'content' in item && Array.isArray(item['content']) && item['content'].some((part: { type?: unknown } | null) => part?.type === 'input_file'),
  )

function encodeParameters(request: ModelRequest, target: CohereTarget, dropped: string[]): Body {
  const { supports, options } = target
  const body: Body = {}
  const take = (field: string, name: string, supported: boolean, value: unknown): void => {
    if (value == null) return
    if (supported) body[name] = value
    else dropped.push(field)
  }
  take('temperature', 'temperature', supports.has('temperature'), within('temperature', request.temperature, 0, options.max_temperature, dropped))
  take('top_p', 'p', supports.has('top_p'), within('top_p', request.top_p, 0.01, 0.99, dropped))
  take('top_k', 'k', supports.has('top_k'), within('top_k', request.top_k, 0, 500, dropped))
  take(
    'frequency_penalty',
    'frequency_penalty',
    supports.has('frequency_penalty'),
    within('frequency_penalty', request.frequency_penalty, 0, 1, dropped),
  )
  take('presence_penalty', 'presence_penalty', supports.has('presence_penalty'), within('presence_penalty', request.presence_penalty, 0, 1, dropped))
  take('seed', 'seed', supports.has('seed'), request['seed'])
  take(
    'max_output_tokens',
    'max_tokens',
    supports.has('max_tokens'),
    within('max_output_tokens', request.max_output_tokens, 1, target.maxOutputTokens, dropped),
  )
  const stop = stopSequences(request, { max: 5 }, dropped)
  if (stop.length > 0) take('stop', 'stop_sequences', supports.has('stop'), stop)
  if ((request.top_logprobs ?? 0) > 0 || request.include?.includes('message.output_text.logprobs') === true)
    take('top_logprobs', 'logprobs', supports.has('logprobs'), true)
  return body
}

/** A value outside the accepted range becomes the limit; only a change that the caller would notice is reported. */
function within(field: string, value: number | null | undefined, least: number, most: number | undefined, dropped: string[]): number | undefined {
  if (value == null) return undefined
  const fit = Math.max(least, Math.min(value, most ?? value))
  if (Math.abs(fit - value) > 0.011) dropped.push(`${field}: ${fit < value ? 'lowered' : 'raised'} to ${fit}`)
  return fit
}

function encodeThinking(request: ModelRequest, target: CohereTarget, dropped: string[]): Body {
  const requested = requestedReasoning(request.reasoning)
  if (requested.mode === 'default') return {}
  if (!matchesModel(target.options.reasoning_models, target.upstreamModel) || !target.supports.has('reasoning')) {
    if (requested.mode === 'on') dropped.push('reasoning')
    return {}
  }
  if (requested.mode === 'off') return { thinking: { type: 'disabled' } }
  const limit = request.max_output_tokens ?? target.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS
  const budget = requested.maxTokens ?? (requested.effort === undefined ? undefined : effortBudget(requested.effort, limit))
  return { thinking: { type: 'enabled', ...(budget === undefined ? {} : { token_budget: budget }) } }
}

/** Fields that are handled above, or that have no effect in this format. */
const HANDLED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'stop_sequences',
  'top_logprobs',
  'include',
  'reasoning',
  'text',
  'prompt_cache_key',
  'client_metadata',
])

function noteIgnored(request: ModelRequest, dropped: string[]): void {
  for (const [field, value] of Object.entries(request)) {
    if (HANDLED.has(field) || value == null) continue
    const saysNothing =
      (field === 'truncation' && value === 'disabled') ||
      (field === 'background' && value === false) ||
      (field === 'service_tier' && (value === 'auto' || value === 'default'))
    if (!saysNothing) dropped.push(field)
  }
  dropped.push(...unmetImageOptions(request), ...unmetMembers(request))
  if (request.text?.verbosity != null) dropped.push('text.verbosity')
}

import type { FinishReason, Stopped } from '../../core/event.ts'
import { gatewayShare, roundUsd } from '../../core/cost.ts'
import { upstreamInferenceCost, type Cost } from '../../core/generation.ts'
import type { OutputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { tierServed, type EndpointTier } from '../../core/service-tier.ts'
import type { PromptCount, Usage } from '../../core/usage.ts'
import { wellFormedJson } from '../../lib/json.ts'
import { echoCacheOptions, echoPrompt, echoText, echoToolChoice, echoTools } from './echo-tools.ts'
import type { Fault } from './wire.ts'

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** The parts of the response resource that change while it is produced. */
export interface ResourceState {
  readonly status: ResponseStatus
  /** Why the model stopped, in its vendor's term. */
  readonly nativeReason?: string | undefined
  /** The model's details about the stop. */
  readonly stopped?: Stopped | undefined
  readonly model: string
  readonly output: readonly OutputItem[]
  /** `output` as JSON. */
  readonly outputText: string
  /** Unix seconds. */
  readonly completedAt?: number
  /** The upstream's name for the tier that serves. */
  readonly serviceTier?: string | undefined
  /** The tier of the endpoint that serves. */
  readonly tier?: EndpointTier | undefined
  /** Fields of the request that were not sent to the endpoint. */
  readonly dropped?: readonly string[] | undefined
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter'
  readonly error?: Fault
  /** The usage of the prompt, before the answer, if the upstream has reported it. */
  readonly prompt?: PromptCount | undefined
  readonly usage?: Usage
  readonly cost?: Cost
  readonly isByok?: boolean
  readonly extra?: { readonly [field: string]: unknown }
}

export type Verdict = Pick<ResourceState, 'status' | 'incompleteReason' | 'error'>

/** The status of an answer whose model stopped for this reason. */
export function verdictOf(reason: FinishReason, output: readonly OutputItem[]): Verdict {
  if (reason === 'length') return { status: 'incomplete', incompleteReason: 'max_output_tokens' }
  // Reasoning alone is not the text of a refusal.
  if (reason === 'content_filter' || (reason === 'refusal' && output.every(({ type }) => type === 'reasoning'))) {
    return { status: 'incomplete', incompleteReason: 'content_filter' }
  }
  return { status: 'completed' }
}

const DEFAULT_TEXT = JSON.stringify(echoText(undefined))

/** A value as JSON, or the given JSON if it is absent. */
const or = (otherwise: string, value: unknown): string => (value == null ? otherwise : JSON.stringify(value))
const orNull = (value: unknown): string => or('null', value)

/**
 * What the caller sent, or else the defaults that strict clients expect (stream-requirements.md section 10), as JSON members. Constant per answer:
 * serialized once and put into every event that contains the resource.
 */
function echo(request: ModelRequest): string {
  const { metadata, prompt_cache_options: cache, reasoning, text, tool_choice: choice, tools } = request
  return (
    `"background":false,"frequency_penalty":${or('0', request.frequency_penalty)},"instructions":${orNull(request.instructions)}` +
    `,"max_output_tokens":${orNull(request.max_output_tokens)},"max_tool_calls":${orNull(request.max_tool_calls)}` +
    `,"metadata":${or('{}', metadata)},"parallel_tool_calls":${or('true', request.parallel_tool_calls)}` +
    `,"presence_penalty":${or('0', request.presence_penalty)},"previous_response_id":null,"prompt":${orNull(echoPrompt(request['prompt']))}` +
    `,"prompt_cache_options":${orNull(echoCacheOptions(cache))},"prompt_cache_key":${orNull(request.prompt_cache_key)}` +
    `,"reasoning":${orNull(echoReasoning(reasoning))},"safety_identifier":${orNull(request.safety_identifier)},"store":false` +
    `,"temperature":${or('1', request.temperature)},"text":${or(DEFAULT_TEXT, text && echoText(text))}` +
    `,"tool_choice":${or('"auto"', choice && echoToolChoice(choice))},"tools":${or('[]', tools && echoTools(tools))}` +
    `,"top_logprobs":${or('0', request.top_logprobs)},"top_p":${or('1', request.top_p)},"truncation":${or('"disabled"', request.truncation)}` +
    `,"user":${orNull(request.user)}}`
  )
}

/** Strict readers expect every nullable member to be present. */
function echoReasoning(reasoning: ModelRequest['reasoning']): ModelRequest['reasoning'] {
  return reasoning == null ? null : { effort: null, summary: null, ...reasoning }
}

/** The visible text of an answer: the text parts of all its messages. */
function outputText(output: readonly OutputItem[]): string {
  let text = ''
  for (const item of output) {
    if (item.type !== 'message') continue
    const content = item['content']
    if (!Array.isArray(content)) continue
    for (const part of content as readonly { readonly type: string; readonly text?: string }[])
      if (part.type === 'output_text') text += part.text ?? ''
  }
  return text
}

/** Everything a model wrote, readable by callers or not: upstreams charge for all of it. */
export function writtenText(output: readonly OutputItem[]): { readonly text: string; readonly reasoning: string } {
  let text = ''
  let reasoning = ''
  for (const item of output as readonly { readonly [field: string]: unknown }[]) {
    if (item['type'] === 'message') text += partTexts(item['content'])
    // A summary beside the raw reasoning may repeat the same text.
    else if (item['type'] === 'reasoning') reasoning += partTexts(item['content']) || partTexts(item['summary'])
    else for (const field of ['name', 'arguments', 'input']) if (typeof item[field] === 'string') text += item[field]
  }
  return { text, reasoning }
}

function partTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return (parts as readonly { readonly text?: string; readonly refusal?: string }[]).map(({ text, refusal }) => text ?? refusal ?? '').join('')
}

/**
 * Usage in both vocabularies, with its cost: the contract's `Usage`. `cost` is what the gateway's accounts paid, in USD; what an own key paid is in
 * `upstream_inference_cost`, so that the two add up to the cost of the answer.
 */
export function presentUsage(usage: Usage, cost: Cost | undefined, isByok: boolean): { readonly [field: string]: unknown } {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      ...(usage.cacheWriteTokens > 0 ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.totalTokens,
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    ...(cost === undefined || cost.source === 'unknown'
      ? { cost: null }
      : {
          cost: roundUsd(gatewayShare(cost)),
          cost_details: {
            upstream_inference_cost: rounded(upstreamInferenceCost({ isByok, cost })),
            upstream_inference_input_cost: roundUsd(cost.input),
            upstream_inference_output_cost: roundUsd(cost.output),
          },
        }),
    is_byok: isByok,
    ...presentToolUse(usage.serverToolUse),
  }
}

const rounded = (usd: number | null): number | null => usd && roundUsd(usd)

/** The contract's three counters: each is present only if it was counted, and the object only if it has at least one. */
function presentToolUse(counts: Usage['serverToolUse']): { readonly server_tool_use_details?: { readonly [field: string]: number } } {
  const { tool_calls_requested: requested, tool_calls_executed: executed, web_search: searches } = counts ?? {}
  const counted = {
    ...(requested === undefined ? {} : { tool_calls_requested: requested }),
    ...(executed === undefined ? {} : { tool_calls_executed: executed }),
    ...(searches === undefined ? {} : { web_search_requests: searches }),
  }
  return Object.keys(counted).length === 0 ? {} : { server_tool_use_details: counted }
}

/** Builds the response resource as JSON text, the same for events and for the JSON answer. */
export function createResource(id: string, createdAt: number, request: ModelRequest): (state: ResourceState) => string {
  const head = `{"id":${JSON.stringify(id)},"object":"response","created_at":${createdAt}`
  let constant: string | undefined
  return (state) => {
    constant ??= echo(request)
    const { error, incompleteReason, usage, stopped, extra } = state
    return (
      `${head},"status":"${state.status}","completed_at":${state.completedAt ?? null}` +
      `,"error":${error === undefined ? null : JSON.stringify({ code: error.code, message: error.message.toWellFormed() })}` +
      `,"incomplete_details":${incompleteReason === undefined ? null : `{"reason":"${incompleteReason}"}`}` +
      `,"model":${JSON.stringify(state.model)},"output":${state.outputText},"output_text":${JSON.stringify(outputText(state.output))}` +
      `,"service_tier":${JSON.stringify(tierServed(state.serviceTier, state.tier, request, state.dropped))}` +
      `,"usage":${usage === undefined ? null : JSON.stringify(presentUsage(usage, state.cost, state.isByok ?? false))}` +
      (stopped?.moderation === undefined ? '' : members({ moderation: stopped.moderation })) +
      `${error === undefined ? '' : `,"error_type":"${error.errorType}"`}${extra === undefined ? '' : members(extra)},${constant}`
    )
  }
}

/** The members of an object as JSON, each after a comma. */
export function members(extra: NonNullable<ResourceState['extra']>): string {
  const text = wellFormedJson(JSON.stringify(extra))
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

import type { FinishReason } from '../../core/event.ts'
import type { Cost } from '../../core/generation.ts'
import type { OutputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { tierServed, type EndpointTier } from '../../core/service-tier.ts'
import type { Usage } from '../../core/usage.ts'
import { echoCacheOptions, echoPrompt, echoText, echoToolChoice, echoTools } from './echo-tools.ts'

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** The parts of the response resource that change while it is produced. */
export interface ResourceState {
  readonly status: ResponseStatus
  readonly model: string
  readonly output: readonly OutputItem[]
  /** Unix seconds. */
  readonly completedAt?: number
  /** What the upstream calls the tier that serves. */
  readonly serviceTier?: string | undefined
  /** The tier of the endpoint that serves. */
  readonly tier?: EndpointTier | undefined
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter'
  readonly error?: { readonly code: string; readonly message: string; readonly errorType: string }
  readonly usage?: Usage
  readonly cost?: Cost
  readonly isByok?: boolean
  readonly extra?: { readonly [field: string]: unknown }
}

export type Verdict = Pick<ResourceState, 'status' | 'incompleteReason' | 'error'>

/** How an answer ended whose model came to its end for this reason. */
export function verdictOf(reason: FinishReason, output: readonly OutputItem[]): Verdict {
  if (reason === 'length') return { status: 'incomplete', incompleteReason: 'max_output_tokens' }
  // Thoughts alone are no words of refusal.
  if (reason === 'content_filter' || (reason === 'refusal' && output.every(({ type }) => type === 'reasoning'))) {
    return { status: 'incomplete', incompleteReason: 'content_filter' }
  }
  return { status: 'completed' }
}

/**
 * What the caller sent, else the defaults that strict clients want to see (stream-requirements.md section 10).
 * Constant per answer: serialised once and written into every event that carries the resource.
 */
function echo(request: ModelRequest): { readonly [field: string]: unknown } {
  return {
    background: false,
    frequency_penalty: request.frequency_penalty ?? 0,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    presence_penalty: request.presence_penalty ?? 0,
    previous_response_id: null,
    prompt: echoPrompt(request['prompt']),
    prompt_cache_options: echoCacheOptions(request.prompt_cache_options),
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: echoReasoning(request.reasoning),
    safety_identifier: request.safety_identifier ?? null,
    store: false,
    temperature: request.temperature ?? 1,
    text: echoText(request.text),
    tool_choice: echoToolChoice(request.tool_choice),
    tools: echoTools(request.tools),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    user: request.user ?? null,
  }
}

/** Strict readers want every member that can be null. */
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

/** Everything a model wrote, whether it is there to be read or not: upstreams charge for all of it. */
export function writtenText(output: readonly OutputItem[]): { readonly text: string; readonly reasoning: string } {
  let text = ''
  let reasoning = ''
  for (const item of output as readonly { readonly [field: string]: unknown }[]) {
    if (item['type'] === 'message') text += partTexts(item['content'])
    // A summary beside the thoughts themselves may be the same words once more.
    else if (item['type'] === 'reasoning') reasoning += partTexts(item['content']) || partTexts(item['summary'])
    else for (const field of ['name', 'arguments', 'input']) if (typeof item[field] === 'string') text += item[field]
  }
  return { text, reasoning }
}

function partTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return (parts as readonly { readonly text?: string; readonly refusal?: string }[]).map(({ text, refusal }) => text ?? refusal ?? '').join('')
}

/** Usage in both vocabularies, with its cost: the contract's `Usage`. */
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
          cost: cost.total,
          cost_details: {
            upstream_inference_cost: isByok ? cost.input + cost.output : null,
            upstream_inference_input_cost: cost.input,
            upstream_inference_output_cost: cost.output,
          },
        }),
    is_byok: isByok,
    ...(usage.serverToolUse === undefined ? {} : { server_tool_use_details: presentToolUse(usage.serverToolUse) }),
  }
}

/** The contract's three counters; each is there only when it was counted. */
function presentToolUse(counts: NonNullable<Usage['serverToolUse']>): { readonly [field: string]: number } {
  const { tool_calls_requested: requested, tool_calls_executed: executed, web_search: searches } = counts
  return {
    ...(requested === undefined ? {} : { tool_calls_requested: requested }),
    ...(executed === undefined ? {} : { tool_calls_executed: executed }),
    ...(searches === undefined ? {} : { web_search_requests: searches }),
  }
}

/** Builds the response resource as JSON text, the same for events and for the JSON answer. */
export function createResource(id: string, createdAt: number, request: ModelRequest): (state: ResourceState) => string {
  const head = `{"id":${JSON.stringify(id)},"object":"response","created_at":${createdAt},`
  let constant: string | undefined
  return (state) => {
    constant ??= JSON.stringify(echo(request)).slice(1)
    const members: Record<string, unknown> = {
      status: state.status,
      completed_at: state.completedAt ?? null,
      error: state.error === undefined ? null : { code: state.error.code, message: state.error.message },
      incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
      model: state.model,
      output: state.output,
      output_text: outputText(state.output),
      service_tier: tierServed(state.serviceTier, state.tier, request),
      usage: state.usage === undefined ? null : presentUsage(state.usage, state.cost, state.isByok ?? false),
    }
    if (state.error !== undefined) members['error_type'] = state.error.errorType
    if (state.extra !== undefined) Object.assign(members, state.extra)
    return `${head}${JSON.stringify(members).slice(1, -1)},${constant}`
  }
}

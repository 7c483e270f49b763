import type { DeliveryRecord } from '../../core/delivery.ts'
import { toProviderResponse } from '../../core/generation.ts'
import { createAttributes, type AttributeLimits, type AttributeSet } from './attributes.ts'
import { messageText, toChatAnswer, toChatMessages, toChatTools, type ChatMessage, type ChatTool } from './chat-shape.ts'
import { toOtelInput, toOtelOutput } from './otel-messages.ts'

/**
 * The attributes of a generation's span: the vocabulary that consumers of hosted routers know (`gen_ai.prompt`, `trace.*`, `span.*`), and the current
 * OpenTelemetry GenAI names beside it. The two do not collide; the older names stay because dashboards use them.
 */

/** The author of a model: `acme` of `acme/small`, whichever provider serves it. */
export function modelAuthor(record: DeliveryRecord): string {
  const model = record.generation.model ?? record.generation.requestedModel
  const slash = model.indexOf('/')
  return slash > 0 ? model.slice(0, slash) : (record.generation.provider ?? 'unknown')
}

/** Whether embeddings were asked for. */
export const isEmbedding = ({ generation }: DeliveryRecord): boolean => generation.apiType === 'embeddings'

export const modelSlug = (record: DeliveryRecord): string => record.generation.model ?? record.generation.requestedModel

/** Whether token counts mean anything: a call that failed before an answer has none, which is not zero. */
export function hasUsage(record: DeliveryRecord): boolean {
  return record.failure === undefined || record.generation.usage.totalTokens > 0
}

/** Whether the cost means anything. A call whose model was never asked may cost something, too: what plugins had bought for it. */
export const hasCost = (record: DeliveryRecord): boolean => {
  const { cost } = record.generation
  return cost.source !== 'unknown' && (cost.total > 0 || hasUsage(record))
}

/** `{"messages":[...],"tools":[...]}`: the prompt as a chat request. */
export function promptObject(
  record: DeliveryRecord,
): { readonly messages: readonly ChatMessage[]; readonly tools?: readonly ChatTool[] } | undefined {
  if (record.content === undefined) return undefined
  const tools = toChatTools(record.content.tools)
  return { messages: toChatMessages(record.content), ...(tools.length === 0 ? {} : { tools }) }
}

/** `{"completion","reasoning","toolCalls"}`: the answer in the contract's own shape. */
export function completionObject(record: DeliveryRecord): { readonly [field: string]: unknown } | undefined {
  if (record.content === undefined) return undefined
  const answer = toChatAnswer(record.content)
  return {
    completion: answer.refusal === undefined ? answer.content : messageText(answer),
    reasoning: answer.reasoning ?? null,
    toolCalls: answer.tool_calls ?? [],
  }
}

export interface GenAiOptions extends AttributeLimits {
  /** False for platforms that read prompt and answer from attributes of their own: copies here would only cost bytes. */
  readonly withContent?: boolean
}

/** Everything about one generation, in the order of the table in the reference. */
export function genAiAttributes(record: DeliveryRecord, { withContent = true, ...limits }: GenAiOptions = {}): AttributeSet {
  const set = createAttributes(limits)
  setIdentity(set, record)
  setModel(set, record)
  if (hasUsage(record)) setUsage(set, record)
  if (hasCost(record)) setCost(set, record)
  setParameters(set, record)
  setTiming(set, record)
  if (withContent) setContent(set, record)
  if (record.truncated) set.bool('gateway.content.truncated', true)
  setMetadata(set, record)
  return set
}

/** What every span of a trace carries: names, user, session, the caller's metadata. */
export function traceAttributes(record: DeliveryRecord, limits: AttributeLimits = {}): AttributeSet {
  const set = createAttributes(limits)
  setIdentity(set, record)
  set.string('span.type', 'span')
  setMetadata(set, record)
  return set
}

function setIdentity(set: AttributeSet, record: DeliveryRecord): void {
  const { generation, names, failure } = record
  set
    .string('trace.name', names.trace)
    .string('span.type', 'generation')
    .string('span.level', failure === undefined ? 'DEFAULT' : 'ERROR')
    .string('user.id', generation.externalUser)
    .string('session.id', generation.sessionId)
    .string('gen_ai.conversation.id', generation.sessionId)
    .string('error.type', failure?.type)
}

function setModel(set: AttributeSet, record: DeliveryRecord): void {
  const { generation } = record
  const author = modelAuthor(record)
  set
    .string('gen_ai.operation.name', isEmbedding(record) ? 'embeddings' : 'chat')
    .string('gen_ai.system', author)
    .string('gen_ai.provider.name', author)
    .string('gen_ai.request.model', generation.requestedModel)
    .string('gen_ai.response.model', generation.model)
    .string('gen_ai.response.id', generation.id)
    .string('gen_ai.output.type', isEmbedding(record) ? undefined : (generation.outputType ?? 'text'))
  if (generation.finishReason === undefined) return
  set.string('gen_ai.response.finish_reason', generation.finishReason).json('gen_ai.response.finish_reasons', [generation.finishReason])
}

function setUsage(set: AttributeSet, record: DeliveryRecord): void {
  const { usage } = record.generation
  set
    .int('gen_ai.usage.input_tokens', usage.inputTokens)
    .int('gen_ai.usage.output_tokens', usage.outputTokens)
    .int('gen_ai.usage.total_tokens', usage.totalTokens)
    .int('gen_ai.usage.input_tokens.cached', usage.cachedTokens)
    .int('gen_ai.usage.input_tokens.cache_write', usage.cacheWriteTokens)
  if (usage.cacheWrite1hTokens !== undefined) {
    set
      .int('gen_ai.usage.input_tokens.cache_write_5m', usage.cacheWriteTokens - usage.cacheWrite1hTokens)
      .int('gen_ai.usage.input_tokens.cache_write_1h', usage.cacheWrite1hTokens)
  }
  set
    .int('gen_ai.usage.input_tokens.audio', usage.audioInputTokens)
    .int('gen_ai.usage.output_tokens.reasoning', usage.reasoningTokens)
    .int('gen_ai.usage.output_tokens.image', usage.imageOutputTokens)
    .int('gen_ai.usage.cache_read.input_tokens', usage.cachedTokens)
    .int('gen_ai.usage.cache_creation.input_tokens', usage.cacheWriteTokens)
    .int('gen_ai.usage.reasoning.output_tokens', usage.reasoningTokens)
    .bool('gateway.usage.estimated', usage.estimated)
}

function setCost(set: AttributeSet, { generation: { cost } }: DeliveryRecord): void {
  set.double('gen_ai.usage.input_cost', cost.input).double('gen_ai.usage.output_cost', cost.output).double('gen_ai.usage.total_cost', cost.total)
}

/** Names that differ between the request and the conventions; all others are the same. */
const PARAMETER_NAMES: { readonly [name: string]: string } = { max_output_tokens: 'max_tokens', stop: 'stop_sequences' }
/** All other numbers are doubles even if whole, so that a column's type does not depend on the first value seen. */
const WHOLE_PARAMETERS = new Set(['dimensions', 'max_output_tokens', 'max_tool_calls', 'seed', 'top_k', 'top_logprobs', 'n'])
/** Objects that are useless as attributes, or are told elsewhere. */
const SKIPPED_PARAMETERS = new Set(['tools', 'metadata', 'provider', 'plugins', 'trace', 'stream'])

function setParameters(set: AttributeSet, record: DeliveryRecord): void {
  for (const [name, value] of Object.entries(record.generation.parameters)) {
    if (SKIPPED_PARAMETERS.has(name)) continue
    const key = `gen_ai.request.${PARAMETER_NAMES[name] ?? name}`
    if (name === 'reasoning' && typeof value === 'object' && value !== null) {
      for (const [part, setting] of Object.entries(value)) set.any(`${key}.${part}`, setting)
    } else if (typeof value === 'number') set[WHOLE_PARAMETERS.has(name) ? 'int' : 'double'](key, value)
    else set.any(key, value)
  }
  set.bool('gen_ai.request.stream', record.generation.streamed)
}

function setTiming(set: AttributeSet, { generation }: DeliveryRecord): void {
  if (generation.firstTokenMs !== undefined) set.double('gen_ai.response.time_to_first_chunk', generation.firstTokenMs / 1000)
}

function setContent(set: AttributeSet, record: DeliveryRecord): void {
  const { content, generation } = record
  if (content === undefined) return
  const prompt = JSON.stringify(promptObject(record))
  const completion = JSON.stringify(completionObject(record))
  for (const key of ['gen_ai.prompt', 'trace.input', 'span.input']) set.string(key, prompt)
  for (const key of ['gen_ai.completion', 'trace.output', 'span.output']) set.string(key, completion)
  const { messages, instructions } = toOtelInput(content)
  set.json('gen_ai.input.messages', messages).json('gen_ai.output.messages', toOtelOutput(content, generation.finishReason))
  if (instructions.length > 0) set.json('gen_ai.system_instructions', instructions)
  const tools = toChatTools(content.tools)
  if (tools.length > 0)
    set.json(
      'gen_ai.tool.definitions',
      tools.map((tool) => ({ type: 'function', ...tool.function })),
    )
}

function setMetadata(set: AttributeSet, record: DeliveryRecord): void {
  for (const [key, value] of Object.entries(record.metadata)) set.any(`trace.metadata.${key}`, value).any(`span.metadata.${key}`, value)
  for (const [key, value] of Object.entries(record.gateway)) setFact(set, `trace.metadata.gateway.${key}`, value)
  for (const [key, value] of Object.entries(record.broadcast ?? {})) {
    setFact(set, `trace.metadata.gateway_generation.${key}`, value)
    setFact(set, `span.metadata.gateway_generation.${key}`, value)
  }
  const responses = record.generation.attempts.map((attempt) => ({
    ...toProviderResponse(attempt),
    ...(attempt.errorType === undefined ? {} : { error_type: attempt.errorType }),
  }))
  if (responses.length > 0) set.json('trace.metadata.provider_responses', responses)
}

/** Money is a double even if it is a round sum; durations are, too. */
const FRACTIONS = /(price|usage|cost|discount|latency|generation_time|_ms)$/

function setFact(set: AttributeSet, key: string, value: unknown): void {
  if (typeof value === 'number' && FRACTIONS.test(key)) set.double(key, value)
  else set.any(key, value)
}

import type { ChildSpan, DeliveryRecord } from '../../core/delivery.ts'
import type { Usage } from '../../core/usage.ts'
import { createAttributes, type AttributeLimits, type AttributeSet } from './attributes.ts'
import { messageText, toChatAnswer, toChatMessages, toChatTools, type ChatMessage } from './chat-shape.ts'
import { completionObject, hasCost, hasUsage, isEmbedding, modelAuthor, modelSlug, promptObject } from './gen-ai-attributes.ts'
import { ownMetadata } from './record-metadata.ts'

/** Spans in the OpenInference vocabulary. Lists are flattened into indexed keys, because its readers do not look into nested values. */
export function openInferenceAttributes(record: DeliveryRecord, limits: AttributeLimits = {}): AttributeSet {
  const { generation, content, failure } = record
  const set = createAttributes(limits)
  set
    .string('openinference.span.kind', isEmbedding(record) ? 'EMBEDDING' : 'LLM')
    .string('embedding.model_name', isEmbedding(record) ? modelSlug(record) : undefined)
    .string('llm.model_name', modelSlug(record))
    .string('llm.request.model_name', generation.requestedModel)
    .string('llm.response.model_name', generation.model)
    .string('llm.provider', generation.provider)
    .string('llm.system', modelAuthor(record))
    .string('llm.finish_reason', generation.finishReason)
    .string('error.type', failure?.type)
  if (Object.keys(generation.parameters).length > 0) set.json('llm.invocation_parameters', generation.parameters)
  setUsage(set, record)
  if (content !== undefined && isEmbedding(record)) setTexts(set, toChatMessages(content))
  else if (content !== undefined) {
    setMessages(set, 'llm.input_messages', toChatMessages(content))
    setMessages(set, 'llm.output_messages', [toChatAnswer(content)])
    for (const [i, tool] of toChatTools(content.tools).entries()) set.json(`llm.tools.${i}.tool.json_schema`, tool)
  }
  setValues(set, record)
  setContext(set, record)
  return set
}

/** The span around a generation. Traces are listed with the values of their topmost span. */
export function openInferenceWrapper(record: DeliveryRecord, limits: AttributeLimits = {}): AttributeSet {
  const set = createAttributes(limits).string('openinference.span.kind', 'CHAIN')
  setValues(set, record)
  setContext(set, record)
  return set
}

/** Attempts and tools. */
export function openInferenceChild(child: ChildSpan, set: AttributeSet): void {
  set.string('openinference.span.kind', child.kind === 'tool' ? 'TOOL' : 'CHAIN')
  if (child.kind !== 'tool') return
  set.string('tool.name', child.attributes['gen_ai.tool.name']?.toString()).string('input.value', child.input).string('output.value', child.output)
}

function setValues(set: AttributeSet, record: DeliveryRecord): void {
  if (record.content === undefined) return
  set.json('input.value', promptObject(record)).string('input.mime_type', 'application/json')
  set.json('output.value', completionObject(record)).string('output.mime_type', 'application/json')
}

function setUsage(set: AttributeSet, record: DeliveryRecord): void {
  const { usage, cost } = record.generation
  if (hasUsage(record)) setTokens(set, usage)
  if (hasCost(record)) set.double('llm.cost.prompt', cost.input).double('llm.cost.completion', cost.output).double('llm.cost.total', cost.total)
}

function setTokens(set: AttributeSet, usage: Usage): void {
  set
    .int('llm.token_count.prompt', usage.inputTokens)
    .int('llm.token_count.completion', usage.outputTokens)
    .int('llm.token_count.total', usage.totalTokens)
    .int('llm.token_count.prompt_details.cache_read', usage.cachedTokens)
    .int('llm.token_count.prompt_details.cache_write', usage.cacheWriteTokens)
    .int('llm.token_count.prompt_details.audio', usage.audioInputTokens)
    .int('llm.token_count.completion_details.reasoning', usage.reasoningTokens)
}

function setMessages(set: AttributeSet, prefix: string, messages: readonly ChatMessage[]): void {
  for (const [i, message] of messages.entries()) {
    const key = `${prefix}.${i}.message`
    set.string(`${key}.role`, message.role).string(`${key}.tool_call_id`, message.tool_call_id)
    if (message.content === null || typeof message.content === 'string')
      set.string(`${key}.content`, message.refusal === undefined ? message.content : messageText(message))
    // The text of an answer is only in `content`: viewers that show both would show it twice.
    const thoughts = message.reasoning === undefined ? 0 : 1
    const first = `${key}.contents.0.message_content`
    if (thoughts > 0) set.string(`${first}.type`, 'reasoning').string(`${first}.text`, message.reasoning)
    for (const [j, part] of (typeof message.content === 'string' ? [] : (message.content ?? [])).entries()) {
      const partKey = `${key}.contents.${thoughts + j}.message_content`
      if (part.type === 'image_url') set.string(`${partKey}.type`, 'image').string(`${partKey}.image.image.url`, part.image_url.url)
      else set.string(`${partKey}.type`, 'text').string(`${partKey}.text`, messageText({ role: message.role, content: [part] }))
    }
    for (const [j, call] of (message.tool_calls ?? []).entries()) {
      const callKey = `${key}.tool_calls.${j}.tool_call`
      set
        .string(`${callKey}.id`, call.id)
        .string(`${callKey}.function.name`, call.function.name)
        .string(`${callKey}.function.arguments`, call.function.arguments)
    }
  }
}

/** The input of embeddings. The vectors themselves are in no record. */
function setTexts(set: AttributeSet, inputs: readonly ChatMessage[]): void {
  for (const [i, input] of inputs.entries()) set.string(`embedding.embeddings.${i}.embedding.text`, messageText(input))
}

/** User, session, tags and metadata: the caller's keys both as one JSON text and one by one. */
function setContext(set: AttributeSet, record: DeliveryRecord): void {
  const { generation, metadata, gateway, broadcast, tags } = record
  set.string('session.id', generation.sessionId).string('user.id', generation.externalUser).strings('tag.tags', tags)
  set.json('metadata', { ...metadata, gateway, ...(broadcast === undefined ? {} : { gateway_generation: broadcast }) })
  for (const [key, value] of Object.entries(ownMetadata(record))) set.any(`metadata.${key}`, value)
}

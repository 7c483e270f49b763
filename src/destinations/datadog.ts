import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { Destination } from '../core/destination.ts'
import type { GenerationContent } from '../core/generation.ts'
import { unixNanos } from '../lib/derived-id.ts'
import { wellFormedJson } from '../lib/json.ts'
import { parseArguments } from './shared/call-arguments.ts'
import { messageText, toChatAnswer, toChatMessages, toChatTools, type ChatMessage } from './shared/chat-shape.ts'
import { hasCost, hasUsage, isEmbedding, modelSlug } from './shared/gen-ai-attributes.ts'
import { metadataObject, modelParameters } from './shared/record-metadata.ts'
import { asObject, readObject } from './shared/read-answer.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
import { traceSteps, type TraceStep } from './shared/trace-steps.ts'

const settings = destinationSettings({
  apiKey: headerSecret('API key of the organisation.'),
  mlApp: requiredText(
    'Name of the application in LLM Observability. Characters other than `a-z 0-9 _ - : . /` become `_`, several in a row a single one.',
  ).refine((name) => toMlApp(name) !== '', 'has no character the platform takes in an application name'),
  url: httpUrl('API of the organisation’s Datadog site.').default('https://api.us5.datadoghq.com'),
})
type DatadogSettings = z.output<typeof settings>

/** Lower case, at most 193 characters, no consecutive or trailing underscores: the platform refuses or silently renames anything else. */
export function toMlApp(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_\-:./]/g, '_')
    .replace(/_+/g, '_')
    .slice(0, 193)
    .replace(/_+$/, '')
}

const authentication = ({ apiKey, headers }: DatadogSettings, more: { readonly [name: string]: string } = {}) =>
  mergeHeaders(headers, { ...more, 'dd-api-key': apiKey })

/** Datadog LLM Observability, spans API. The platform silently drops spans that are older than a day. */
export const datadog: Destination<DatadogSettings> = {
  type: 'datadog',
  name: 'Datadog',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_500_000, maxAgeMs: 24 * 3_600_000 },
  encode: (batch, options) => [
    {
      method: 'POST',
      url: joinUrl(options.url, '/api/intake/llm-obs/v1/trace/spans'),
      headers: authentication(options, { 'content-type': 'application/json' }),
      body: toBody(batch, toMlApp(options.mlApp)),
    },
  ],
  probe: (options) => [
    {
      name: 'validate the API key',
      request: { method: 'GET', url: joinUrl(options.url, '/api/v1/validate'), headers: authentication(options) },
      check: (response) => {
        if (response.status === 403 || response.status === 401) return 'the API key is not known on this site'
        if (response.status !== 200) return `HTTP ${response.status}`
        return readObject(response)?.['valid'] === true ? undefined : 'the site did not confirm the API key'
      },
    },
  ],
}

function toBody(batch: readonly DeliveryRecord[], mlApp: string): string {
  const spans = batch.flatMap((record) => traceSteps(record).map((step) => spanJson(record, step, mlApp)))
  return `{"data":{"type":"span","attributes":{"ml_app":${JSON.stringify(mlApp)},"spans":[${spans.join(',')}]}}}`
}

/**
 * Nanoseconds since the epoch exceed the precision of a double but must be a JSON number, so their digits are written directly instead of through
 * JSON.stringify.
 */
function spanJson(record: DeliveryRecord, step: TraceStep, mlApp: string): string {
  const start = unixNanos(step.startedAt)
  const duration = BigInt(unixNanos(step.endedAt)) - BigInt(start)
  return `{"start_ns":${start},"duration":${duration.toString()},${wellFormedJson(JSON.stringify(toSpan(record, step, mlApp))).slice(1)}`
}

function toSpan(record: DeliveryRecord, step: TraceStep, mlApp: string): object {
  const { generation, ids } = record
  return {
    name: step.name,
    span_id: step.id,
    trace_id: ids.trace,
    // The parent of a root is the literal word `undefined`.
    parent_id: step.parentId ?? 'undefined',
    status: step.error === undefined ? 'ok' : 'error',
    // On the span, because one request contains many sessions.
    ...(generation.sessionId === undefined ? {} : { session_id: generation.sessionId }),
    tags: toTags(record, mlApp),
    meta: { ...toMeta(record, step), ...(step.error === undefined ? {} : { error: { message: step.error.message, type: step.error.type } }) },
    ...(step.kind === 'generation' ? { metrics: toMetrics(record) } : {}),
  }
}

function toTags(record: DeliveryRecord, mlApp: string): readonly string[] {
  const { externalUser } = record.generation
  return [
    `service:${mlApp}`,
    ...(externalUser === undefined ? [] : [`user_id:${externalUser}`]),
    ...(record.environment === undefined ? [] : [`env:${record.environment}`]),
    ...(record.release === undefined ? [] : [`version:${record.release}`]),
    ...record.tags,
  ]
}

function toMeta(record: DeliveryRecord, step: TraceStep): object {
  const { content, generation } = record
  if (step.child !== undefined) {
    const { input, output, attributes } = step.child
    return {
      kind: step.kind === 'tool' ? 'tool' : 'task',
      ...(input === undefined ? {} : { input: { value: input } }),
      ...(output === undefined ? {} : { output: { value: output } }),
      metadata: attributes,
    }
  }
  const names = { trace_name: record.names.trace, generation_name: record.names.generation }
  if (step.kind === 'wrapper') {
    const last = content === undefined ? undefined : toChatMessages(content).at(-1)
    return {
      kind: 'workflow',
      ...(last === undefined ? {} : { input: { value: messageText(last) } }),
      ...(content === undefined ? {} : { output: { value: messageText(toChatAnswer(content)) } }),
      metadata: { ...metadataObject(record), ...names },
    }
  }
  const tools = toChatTools(content?.tools)
  return {
    kind: isEmbedding(record) ? 'embedding' : 'llm',
    model_name: modelSlug(record),
    ...(generation.provider === undefined ? {} : { model_provider: generation.provider }),
    ...(content === undefined ? {} : inputAndOutput(content, isEmbedding(record))),
    ...(tools.length === 0
      ? {}
      : {
          tool_definitions: tools.map(({ function: { name, description, parameters } }) => ({
            name,
            ...(description === undefined ? {} : { description }),
            ...(parameters === undefined ? {} : { schema: parameters }),
          })),
        }),
    metadata: {
      ...modelParameters(record),
      ...metadataObject(record),
      ...names,
      model_name: modelSlug(record),
      ...(generation.provider === undefined ? {} : { model_provider: generation.provider }),
      ...(generation.finishReason === undefined ? {} : { finish_reason: generation.finishReason }),
    },
  }
}

function inputAndOutput(content: GenerationContent, embeds: boolean): object {
  const messages = toChatMessages(content)
  if (embeds) return { input: { documents: messages.map((message) => ({ text: messageText(message) })) } }
  return { input: { messages: messages.flatMap(toMessages) }, output: { messages: toMessages(toChatAnswer(content)) } }
}

/** The platform expects reasoning as a separate message. */
const toMessages = (message: ChatMessage): readonly object[] =>
  message.reasoning === undefined ? [toMessage(message)] : [{ role: 'reasoning', content: message.reasoning }, toMessage(message)]

/** Content must be a single text; anything else fails the whole request. The platform shows a tool's result with its call by the call's id. */
function toMessage(message: ChatMessage): object {
  const { role, tool_call_id, tool_calls } = message
  if (tool_call_id !== undefined)
    return { role, content: '', tool_results: [{ result: messageText(message), tool_id: tool_call_id, type: 'tool_result' }] }
  return {
    role,
    content: messageText(message),
    ...(tool_calls === undefined
      ? {}
      : {
          tool_calls: tool_calls.map((call) => ({
            name: call.function.name,
            arguments: toArguments(call.function.arguments),
            tool_id: call.id,
            type: call.type,
          })),
        }),
  }
}

/** Arguments must be an object; malformed ones are wrapped. */
const toArguments = (text: string): object => asObject(parseArguments(text)) ?? { value: text }

function toMetrics(record: DeliveryRecord): object {
  const { usage, cost, firstTokenMs } = record.generation
  return {
    ...(hasUsage(record)
      ? {
          input_tokens: usage.inputTokens,
          output_tokens: usage.outputTokens,
          total_tokens: usage.totalTokens,
          cache_read_input_tokens: usage.cachedTokens,
          cache_write_input_tokens: usage.cacheWriteTokens,
          ...(usage.cacheWrite1hTokens === undefined
            ? {}
            : {
                ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
                ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
              }),
          reasoning_output_tokens: usage.reasoningTokens,
        }
      : {}),
    ...(firstTokenMs === undefined ? {} : { time_to_first_token: firstTokenMs / 1000 }),
    ...(hasCost(record) ? { input_cost: cost.input, output_cost: cost.output, total_cost: cost.total } : {}),
  }
}

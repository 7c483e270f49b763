import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import type { AttributeSet } from './shared/attributes.ts'
import { toChatChoices } from './shared/chat-shape.ts'
import { genAiAttributes, hasCost, hasUsage, isEmbedding, modelSlug, promptObject, traceAttributes } from './shared/gen-ai-attributes.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { metadataObject } from './shared/record-metadata.ts'
import { destinationSettings, headerSecret, headerValue, HEADER_SECRETS, httpUrl, joinUrl, lineText } from './shared/settings.ts'

const settings = destinationSettings({
  apiKey: headerSecret('API key. A key of an organisation also needs `workspaceId`.'),
  project: lineText().min(1).default('main').describe('Project that receives the traces.'),
  endpoint: httpUrl('Address of the API; self-hosted servers end in `/api/v1`.').default('https://api.smith.langchain.com'),
  workspaceId: lineText().optional().describe('Workspace, for keys of an organisation.'),
})
type LangsmithSettings = z.output<typeof settings>

const limit = { maxChars: DESTINATION_DEFAULTS.valueChars }

const target = ({ apiKey, project, endpoint, workspaceId, headers }: LangsmithSettings): OtlpTarget => ({
  url: joinUrl(endpoint, '/otel/v1/traces'),
  headers,
  authentication: {
    'x-api-key': apiKey,
    'langsmith-project': headerValue(project),
    ...(workspaceId ? { 'x-tenant-id': headerValue(workspaceId) } : {}),
  },
  encoding: 'protobuf',
})

const spans: OtlpOptions = {
  ...limit,
  // The platform recognises a failed run by its event and does not read statuses (github.com/langchain-ai/langsmith-collector-proxy, `otel_converter.go`).
  eventOfEveryFailure: true,
  generation: generationAttributes,
  wrapper: (record) => chain(record, record.names.wrapper),
  // Every span without a parent becomes the run with the trace's id, so only one of several would remain.
  root: (record) => chain(record, record.names.trace),
  parent: knownParent,
  child: (child, set) => {
    set.string('langsmith.span.kind', child.kind === 'tool' ? 'tool' : 'chain').string('langsmith.trace.name', child.name)
    if (child.kind === 'tool') set.string('gen_ai.prompt', child.input).string('gen_ai.completion', child.output)
  },
}

/** LangSmith through its OTLP endpoint. */
export const langsmith: Destination<LangsmithSettings> = {
  type: 'langsmith',
  name: 'LangSmith',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 10_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), spans)],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}

function generationAttributes(record: DeliveryRecord): AttributeSet {
  const set = genAiAttributes(record, { ...limit, withContent: false })
  set.string('langsmith.span.kind', isEmbedding(record) ? 'embedding' : 'llm').json('langsmith.usage_metadata', usageMetadata(record))
  if (hasUsage(record)) set.int('gen_ai.usage.details.reasoning_tokens', record.generation.usage.reasoningTokens)
  // Tokens and costs are stored with the outputs of a run, and lost if it has none.
  if ((hasUsage(record) || hasCost(record)) && record.content === undefined) set.json('gen_ai.completion', {})
  return (
    setTrace(setContent(set, record), record, record.names.generation)
      // Without this, a run is named after the requested model, whichever model answered.
      .string('langsmith.metadata.ls_model_name', modelSlug(record))
  )
}

/** The list of traces shows the input and output of the topmost run. */
function chain(record: DeliveryRecord, name: string | undefined): AttributeSet {
  const set = traceAttributes(record, limit).string('langsmith.span.kind', 'chain')
  return setTrace(setContent(set, record), record, name)
}

/**
 * A span whose parent is never sent to the platform is dropped, hours after it was accepted (docs.langchain.com/langsmith/trace-with-opentelemetry). A
 * parent whose id is not an OpenTelemetry span id cannot be sent.
 */
function knownParent({ ids }: DeliveryRecord): string | undefined {
  return ids.parent?.trim().toLowerCase() === ids.otlp.parentSpanId ? ids.otlp.parentSpanId : undefined
}

/** Request and answer of a chat completion. From any other format the platform renders no messages, reasoning or tool calls. */
function setContent(set: AttributeSet, record: DeliveryRecord): AttributeSet {
  const { content, generation } = record
  if (content === undefined) return set
  return set.json('gen_ai.prompt', promptObject(record)).json('gen_ai.completion', { choices: toChatChoices(content, generation.finishReason) })
}

/**
 * Name, tags and metadata. Metadata groups runs into threads. The attribute `langsmith.trace.session_id` would name a project instead and must not contain
 * the caller's session.
 */
function setTrace(set: AttributeSet, record: DeliveryRecord, name: string | undefined): AttributeSet {
  const { sessionId, externalUser } = record.generation
  set.string('langsmith.trace.name', name)
  if (record.tags.length > 0) set.string('langsmith.span.tags', record.tags.join(','))
  // The platform would show a list in its wire format, member by member with its type, so lists are sent as JSON.
  for (const [key, value] of Object.entries(metadataObject(record))) set[Array.isArray(value) ? 'json' : 'any'](`langsmith.metadata.${key}`, value)
  return set
    .string('langsmith.metadata.trace_name', record.names.trace)
    .string('langsmith.metadata.session_id', sessionId)
    .string('langsmith.metadata.thread_id', sessionId)
    .string('langsmith.metadata.user_id', externalUser)
    .string('langsmith.metadata.parent_span_id', record.ids.parent)
}

function usageMetadata(record: DeliveryRecord): object | undefined {
  const { usage, cost } = record.generation
  const costs = hasCost(record) ? { input_cost: cost.input, output_cost: cost.output, total_cost: cost.total } : undefined
  if (!hasUsage(record)) return costs
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    input_token_details: { cache_read: usage.cachedTokens, cache_creation: usage.cacheWriteTokens },
    output_token_details: { reasoning: usage.reasoningTokens },
    ...costs,
  }
}

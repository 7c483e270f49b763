import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { Destination } from '../core/destination.ts'
import { toChatChoices, toChatMessages, toChatTools } from './shared/chat-shape.ts'
import { hasCost, hasUsage, modelSlug } from './shared/gen-ai-attributes.ts'
import { isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
import { traceSteps, type TraceStep } from './shared/trace-steps.ts'

const settings = destinationSettings({
  apiKey: headerSecret('API key of the organisation.'),
  projectId: requiredText('Id of the project, a UUID.'),
  baseUrl: httpUrl('Address of the API.').default('https://api.braintrust.dev'),
})
type BraintrustSettings = z.output<typeof settings>

const requestHeaders = ({ apiKey, headers }: BraintrustSettings) =>
  mergeHeaders(headers, { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` })

/** Braintrust's own log insert. Events are overwritten by id, so a repeat changes nothing. */
export const braintrust: Destination<BraintrustSettings> = {
  type: 'braintrust',
  name: 'Braintrust',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  // Six megabytes are refused.
  limits: { records: 100, bytes: 5_000_000 },
  encode: (batch, options) => [
    {
      method: 'POST',
      url: joinUrl(options.baseUrl, `/v1/project_logs/${encodeURIComponent(options.projectId)}/insert`),
      headers: requestHeaders(options),
      body: JSON.stringify({ events: batch.flatMap(toEvents) }),
    },
  ],
  probe: (options) => [
    {
      name: 'read the project',
      request: {
        method: 'GET',
        url: joinUrl(options.baseUrl, `/v1/project/${encodeURIComponent(options.projectId)}`),
        headers: requestHeaders(options),
      },
    },
  ],
}

function toEvents(record: DeliveryRecord): readonly object[] {
  const steps = traceSteps(record)
  // A root is recognised by its span id being the trace's: a trace of the caller's own has its root elsewhere.
  const root = record.ids.trace === record.ids.generation ? (steps[0]?.id ?? record.ids.trace) : record.ids.trace
  return steps.map((step) => ({
    id: step.id,
    span_id: step.id,
    root_span_id: root,
    ...(step.parentId === undefined ? {} : { span_parents: [step.parentId] }),
    created: isoTime(step.startedAt),
    span_attributes: { name: step.isTop && step.kind === 'generation' ? record.names.trace : step.name, type: spanType(step) },
    ...(step.error === undefined ? {} : { error: `${step.error.type}: ${step.error.message}` }),
    ...(step.id === root && record.tags.length > 0 ? { tags: record.tags } : {}),
    ...(step.child === undefined ? content(record, step, root) : { metadata: step.child.attributes, ...childContent(step) }),
    metrics: { start: step.startedAt / 1000, end: step.endedAt / 1000, ...(step.kind === 'generation' ? metrics(record) : {}) },
  }))
}

const spanType = ({ kind }: TraceStep): string => (kind === 'generation' ? 'llm' : kind === 'tool' ? 'tool' : 'task')

const childContent = ({ child }: TraceStep): object => ({
  ...(child?.input === undefined ? {} : { input: child.input }),
  ...(child?.output === undefined ? {} : { output: child.output }),
})

/** Messages as an array and the answer as choices: that is what the platform's prompt editor opens. */
function content(record: DeliveryRecord, step: TraceStep, root: string): object {
  const said =
    record.content === undefined
      ? {}
      : { input: toChatMessages(record.content), output: toChatChoices(record.content, record.generation.finishReason) }
  const known = step.kind === 'generation' ? { ...modelParameters(record), ...metadata(record) } : wrapperMetadata(record)
  // The platform takes tags on a root only.
  const tags = step.isTop && step.id !== root && record.tags.length > 0 ? { tags: record.tags } : {}
  return { ...said, metadata: { ...known, ...tags } }
}

/** A `model` of the caller's own may be anything; the platform takes a text or nothing. */
function wrapperMetadata(record: DeliveryRecord): object {
  const known = metadataObject(record)
  const model = known['model']
  return model === undefined || typeof model === 'string' ? known : { ...known, model: JSON.stringify(model) }
}

function metadata(record: DeliveryRecord): object {
  const { generation, names } = record
  const tools = toChatTools(record.content?.tools)
  return {
    ...metadataObject(record),
    ...(tools.length === 0 ? {} : { tools }),
    model: modelSlug(record),
    ...(generation.provider === undefined ? {} : { provider: generation.provider }),
    ...(generation.externalUser === undefined ? {} : { user_id: generation.externalUser }),
    ...(generation.sessionId === undefined ? {} : { session_id: generation.sessionId }),
    trace_name: names.trace,
    generation_name: names.generation,
  }
}

function metrics(record: DeliveryRecord): object {
  const { usage, cost, firstTokenMs } = record.generation
  return {
    ...(hasUsage(record)
      ? {
          prompt_tokens: usage.inputTokens,
          completion_tokens: usage.outputTokens,
          tokens: usage.totalTokens,
          prompt_cached_tokens: usage.cachedTokens,
          prompt_cache_creation_tokens: usage.cacheWriteTokens,
          completion_reasoning_tokens: usage.reasoningTokens,
        }
      : {}),
    // Overrides the platform's own price table.
    ...(hasCost(record) ? { estimated_cost: cost.total, input_cost: cost.input, output_cost: cost.output, total_cost: cost.total } : {}),
    ...(firstTokenMs === undefined ? {} : { time_to_first_token: firstTokenMs / 1000 }),
  }
}

import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { Destination } from '../core/destination.ts'
import { toChatChoices, toChatMessages, toChatTools } from './shared/chat-shape.ts'
import { hasCost, hasUsage, modelSlug } from './shared/gen-ai-attributes.ts'
import { endOf, isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
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
      body: JSON.stringify({ events: mergeRoots(batch.flatMap(toEvents)) }),
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

interface LogEvent {
  readonly id: string
  readonly [field: string]: unknown
}

/** The platform deep-merges such an event into what it has under the id. */
const MERGE = '_is_merge'

/** The generations of one trace in a batch share its root: the last one says what it holds, as it would from batch to batch. */
function mergeRoots(events: readonly LogEvent[]): readonly LogEvent[] {
  const last = new Map(events.map((event, i) => [event.id, i]))
  return events.filter((event, i) => event[MERGE] === undefined || last.get(event.id) === i)
}

function toEvents(record: DeliveryRecord): readonly LogEvent[] {
  const { ids, names, tags } = record
  const steps = traceSteps(record)
  // A root is recognised by its span id being the trace's. Callers who name a span of theirs as the parent have it there.
  const root = ids.trace === ids.generation ? (steps[0]?.id ?? ids.trace) : ids.trace
  const isRootless = ids.trace !== ids.generation && ids.parent === undefined
  const events = steps.map((step) => {
    const parent = step.parentId ?? (isRootless ? root : undefined)
    return {
      id: step.id,
      span_id: step.id,
      root_span_id: root,
      ...(parent === undefined ? {} : { span_parents: [parent] }),
      created: isoTime(step.startedAt),
      span_attributes: { name: step.isTop && step.kind === 'generation' && !isRootless ? names.trace : step.name, type: spanType(step) },
      ...(step.error === undefined ? {} : { error: `${step.error.type}: ${step.error.message}` }),
      ...(step.id === root && tags.length > 0 ? { tags } : {}),
      ...(step.child === undefined ? content(record, step, root) : { metadata: step.child.attributes, ...childContent(step) }),
      metrics: { start: step.startedAt / 1000, end: step.endedAt / 1000, ...(step.kind === 'generation' ? metrics(record) : {}) },
    }
  })
  return isRootless ? [rootEvent(record), ...events] : events
}

/**
 * The root of a trace the caller named and has no span in: without one the platform shows neither tags nor input and output of a trace, and scores
 * none (braintrust.dev/docs/kb/create-a-root-span-with-client-generated-conversation-ids). What several generations say of it is merged there.
 */
function rootEvent(record: DeliveryRecord): LogEvent {
  const { generation, ids, names, tags } = record
  return {
    id: ids.trace,
    [MERGE]: true,
    span_id: ids.trace,
    root_span_id: ids.trace,
    created: isoTime(generation.startedAt),
    span_attributes: { name: names.trace, type: 'task' },
    ...said(record),
    metadata: wrapperMetadata(record),
    ...(tags.length === 0 ? {} : { tags }),
    metrics: { start: generation.startedAt / 1000, end: endOf(generation) / 1000 },
  }
}

const spanType = ({ kind }: TraceStep): string => (kind === 'generation' ? 'llm' : kind === 'tool' ? 'tool' : 'task')

const childContent = ({ child }: TraceStep): object => ({
  ...(child?.input === undefined ? {} : { input: child.input }),
  ...(child?.output === undefined ? {} : { output: child.output }),
})

/** Messages as an array and the answer as choices: that is what the platform's prompt editor opens. */
const said = (record: DeliveryRecord): object =>
  record.content === undefined ? {} : { input: toChatMessages(record.content), output: toChatChoices(record.content, record.generation.finishReason) }

function content(record: DeliveryRecord, step: TraceStep, root: string): object {
  const { ids, tags } = record
  const known = step.kind === 'generation' ? { ...modelParameters(record), ...metadata(record) } : wrapperMetadata(record)
  // The platform takes tags on a root only, and the root of this trace is the caller's.
  const more = step.isTop && step.id !== root && ids.parent !== undefined && tags.length > 0 ? { tags } : {}
  return { ...said(record), metadata: { ...known, ...more } }
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

import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { Destination } from '../core/destination.ts'
import { toChatChoices, toChatMessages, toChatTools } from './shared/chat-shape.ts'
import { hasCost, hasUsage, modelSlug } from './shared/gen-ai-attributes.ts'
import { endOf, isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
import { joinsGeneration, traceSteps, type TraceStep } from './shared/trace-steps.ts'

const settings = destinationSettings({
  apiKey: headerSecret('API key of the organisation.'),
  projectId: requiredText('Id of the project, a UUID.'),
  baseUrl: httpUrl('Address of the API.').default('https://api.braintrust.dev'),
})
type BraintrustSettings = z.output<typeof settings>

const requestHeaders = ({ apiKey, headers }: BraintrustSettings) =>
  mergeHeaders(headers, { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` })

/** Braintrust's own log insert API. Events are overwritten by id, so a repeat changes nothing. */
export const braintrust: Destination<BraintrustSettings> = {
  type: 'braintrust',
  name: 'Braintrust',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  // The platform refuses six megabytes.
  limits: { records: 100, bytes: 5_000_000 },
  encode: (batch, options) => [
    {
      method: 'POST',
      url: joinUrl(options.baseUrl, `/v1/project_logs/${encodeURIComponent(options.projectId)}/insert`),
      headers: requestHeaders(options),
      body: JSON.stringify({ events: toEvents(batch) }),
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

/** The generations of one trace share its root within a batch, because a request may contain an id only once. */
function toEvents(batch: readonly DeliveryRecord[]): readonly LogEvent[] {
  const roots = new Map<string, RootEvent>()
  for (const root of batch.filter((record) => isRootless(record) && !joinsGeneration(record)).map(toRoot))
    roots.set(root.id, joined(roots.get(root.id), root))
  const spans = batch.flatMap(toSpans)
  for (const { id } of spans) roots.delete(id)
  return [...roots.values(), ...spans]
}

// ---- spans ----

/** Whether the caller named the trace but no span in it. Callers who name a parent span have their own root. */
const isRootless = ({ ids }: DeliveryRecord): boolean => ids.trace !== ids.generation && ids.parent === undefined

function toSpans(record: DeliveryRecord): readonly LogEvent[] {
  const { ids, names, tags } = record
  const steps = traceSteps(record)
  const rootless = isRootless(record)
  // The platform recognises a root by its span id, which equals the trace's root span id.
  const root = ids.trace === ids.generation ? (steps[0]?.id ?? ids.trace) : ids.trace
  return steps.map((step) => {
    const parent = step.parentId ?? (rootless ? root : undefined)
    return {
      id: step.id,
      span_id: step.id,
      root_span_id: root,
      ...(parent === undefined ? {} : { span_parents: [parent] }),
      created: isoTime(step.startedAt),
      span_attributes: { name: step.isTop && step.kind === 'generation' && !rootless ? names.trace : step.name, type: spanType(step) },
      ...(step.error === undefined ? {} : { error: `${step.error.type}: ${step.error.message}` }),
      ...(step.id === root && tags.length > 0 ? { tags } : {}),
      ...(step.child === undefined ? content(record, step, root) : { metadata: step.child.attributes, ...childContent(step) }),
      metrics: { start: step.startedAt / 1000, end: step.endedAt / 1000, ...(step.kind === 'generation' ? metrics(record) : {}) },
    }
  })
}

const spanType = ({ kind }: TraceStep): string => (kind === 'generation' ? 'llm' : kind === 'tool' ? 'tool' : 'task')

const childContent = ({ child }: TraceStep): object => ({
  ...(child?.input === undefined ? {} : { input: child.input }),
  ...(child?.output === undefined ? {} : { output: child.output }),
})

/** Messages as an array and the answer as choices, which is the format that the platform's prompt editor opens. */
const inputAndOutput = (record: DeliveryRecord): object =>
  record.content === undefined ? {} : { input: toChatMessages(record.content), output: toChatChoices(record.content, record.generation.finishReason) }

function content(record: DeliveryRecord, step: TraceStep, root: string): object {
  const { ids, tags } = record
  const known = step.kind === 'generation' ? { ...modelParameters(record), ...metadata(record) } : wrapperMetadata(record)
  // The platform accepts tags only on a root. The root of this trace belongs to the caller or to an earlier generation, so the tags become metadata.
  const isBelow = step.isTop && step.id !== root && (ids.parent !== undefined || joinsGeneration(record))
  const more = isBelow && tags.length > 0 ? { tags } : {}
  return { ...inputAndOutput(record), metadata: { ...known, ...more } }
}

/** The caller's own `model` may be anything, but the platform accepts only text. */
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
          ...(usage.cacheWrite1hTokens === undefined
            ? {}
            : {
                prompt_cache_creation_5m_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
                prompt_cache_creation_1h_tokens: usage.cacheWrite1hTokens,
              }),
          completion_reasoning_tokens: usage.reasoningTokens,
        }
      : {}),
    // Overrides the platform's own price table.
    ...(hasCost(record) ? { estimated_cost: cost.total, input_cost: cost.input, output_cost: cost.output, total_cost: cost.total } : {}),
    ...(firstTokenMs === undefined ? {} : { time_to_first_token: firstTokenMs / 1000 }),
  }
}

// ---- roots ----

interface RootEvent extends LogEvent {
  readonly created: string
  readonly metadata: object
  readonly metrics: { readonly start: number; readonly end: number }
}

/**
 * The root of a trace that the caller named without a span in it. Without a root the platform shows neither the tags nor the input and output of a trace,
 * and does not score it (braintrust.dev/docs/kb/create-a-root-span-with-client-generated-conversation-ids). The platform merges the roots of several
 * batches.
 */
function toRoot(record: DeliveryRecord): RootEvent {
  const { generation, ids, names, tags } = record
  return {
    id: ids.trace,
    _is_merge: true,
    span_id: ids.trace,
    root_span_id: ids.trace,
    created: isoTime(generation.startedAt),
    span_attributes: { name: names.trace, type: 'task' },
    ...inputAndOutput(record),
    metadata: wrapperMetadata(record),
    ...(tags.length === 0 ? {} : { tags }),
    metrics: { start: generation.startedAt / 1000, end: endOf(generation) / 1000 },
  }
}

/** Merges two roots: the later one wins, and fields that it lacks are kept, like when the platform merges one batch into another. */
function joined(before: RootEvent | undefined, root: RootEvent): RootEvent {
  if (before === undefined) return root
  const isEarlier = before.metrics.start < root.metrics.start
  return {
    ...before,
    ...root,
    created: isEarlier ? before.created : root.created,
    metadata: { ...before.metadata, ...root.metadata },
    metrics: { start: Math.min(before.metrics.start, root.metrics.start), end: Math.max(before.metrics.end, root.metrics.end) },
  }
}

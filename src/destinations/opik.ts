import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { Destination, DestinationContext, OutgoingRequest } from '../core/destination.ts'
import { uuid7FromId } from '../lib/derived-id.ts'
import { toChatChoices } from './shared/chat-shape.ts'
import { hasCost, hasUsage, modelSlug, promptObject } from './shared/gen-ai-attributes.ts'
import { endOf, isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, headerValue, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
import { traceSteps, type TraceStep } from './shared/trace-steps.ts'

const DEFAULT_BASE = 'https://www.comet.com/opik/api'
/** Items in one request. */
const MAX_ITEMS = 1_000
const HOUR_MS = 3_600_000
const MAX_AGE_MS = 23 * HOUR_MS
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

const settings = destinationSettings({
  apiKey: headerSecret('API key.'),
  workspace: requiredText('Workspace that owns the project.'),
  projectName: requiredText('Project that receives the traces; it is created if it does not exist.'),
})
type OpikSettings = z.output<typeof settings>

/**
 * Opik's own API: a trace, then its spans. Ids are UUIDs version 7, whose time may be at most a day off. The trace of a caller is dated by its hour, which
 * leaves 23 hours for delivery.
 */
export const opik: Destination<OpikSettings> = {
  type: 'opik',
  name: 'Opik',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 200, bytes: 4_000_000, maxAgeMs: MAX_AGE_MS },
  encode,
  probe: (options, context) => [
    {
      name: 'list projects of the workspace',
      request: { ...request(options, context, '/v1/private/projects?page=1&size=1'), method: 'GET' },
    },
  ],
}

function request({ apiKey, workspace, headers }: OpikSettings, { baseUrl }: DestinationContext, path: string, body?: object): OutgoingRequest {
  const [pathname = '', query] = path.split('?')
  const url = joinUrl(baseUrl ?? DEFAULT_BASE, pathname)
  return {
    method: 'POST',
    url: query === undefined ? url : `${url}?${query}`,
    // The key alone, without a scheme.
    headers: mergeHeaders(headers, { 'content-type': 'application/json', authorization: apiKey, 'comet-workspace': headerValue(workspace) }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

function encode(batch: readonly DeliveryRecord[], options: OpikSettings, context: DestinationContext): readonly OutgoingRequest[] {
  const traces = request(options, context, '/v1/private/traces/batch', { traces: batch.map((record) => toTrace(record, options)) })
  const groups: { readonly records: number[]; readonly spans: object[] }[] = []
  for (const [index, record] of batch.entries()) {
    const spans = traceSteps(record).map((step) => toSpan(record, step, options))
    const last = groups.at(-1)
    if (last === undefined || last.spans.length + spans.length > MAX_ITEMS) groups.push({ records: [index], spans })
    else {
      last.records.push(index)
      last.spans.push(...spans)
    }
  }
  return [traces, ...groups.map(({ records, spans }) => ({ ...request(options, context, '/v1/private/spans/batch', { spans }), records }))]
}

/** The caller's own id is kept if it has the platform's format and an accepted time: any other would cause the whole batch to be refused. */
function callerUuid(id: string, { generation }: DeliveryRecord): string | undefined {
  if (!UUID7.test(id)) return undefined
  const time = Number.parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16)
  return Math.abs(time - generation.startedAt) <= MAX_AGE_MS ? id.toLowerCase() : undefined
}

/** Several generations of one trace must derive the same trace id, whenever each began, so their trace is dated by the hour. */
function traceUuid(record: DeliveryRecord): string {
  const { ids, generation } = record
  const own = callerUuid(ids.trace, record)
  if (own !== undefined) return own
  const time = ids.trace === ids.generation ? generation.startedAt : Math.floor(generation.startedAt / HOUR_MS) * HOUR_MS
  return uuid7FromId(`${ids.trace}:trace`, time)
}

const stepUuid = (record: DeliveryRecord, id: string): string => uuid7FromId(id, record.generation.startedAt)

const errorInfo = (error: TraceStep['error']): object =>
  error === undefined ? {} : { error_info: { exception_type: error.type, message: error.message, traceback: error.message } }

/** Request and answer of a chat completion: lists and conversations show the messages of these, and anything else as JSON. */
const inputAndOutput = (record: DeliveryRecord): object => {
  const { content, generation } = record
  return content === undefined ? {} : { input: promptObject(record), output: { choices: toChatChoices(content, generation.finishReason) } }
}

function toTrace(record: DeliveryRecord, { projectName }: OpikSettings): object {
  const { generation, ids } = record
  return {
    id: traceUuid(record),
    project_name: projectName,
    name: record.names.trace,
    start_time: isoTime(generation.startedAt),
    end_time: isoTime(endOf(generation)),
    ...inputAndOutput(record),
    metadata: {
      ...metadataObject(record),
      gateway_trace_id: ids.trace,
      ...(generation.externalUser === undefined ? {} : { user_id: generation.externalUser }),
      providers: [...new Set(generation.attempts.map((attempt) => attempt.provider))],
    },
    ...(record.tags.length === 0 ? {} : { tags: record.tags }),
    ...(generation.sessionId === undefined ? {} : { thread_id: generation.sessionId }),
    ...errorInfo(record.failure),
  }
}

function toSpan(record: DeliveryRecord, step: TraceStep, { projectName }: OpikSettings): object {
  const parent = parentUuid(record, step)
  return {
    id: stepUuid(record, step.id),
    trace_id: traceUuid(record),
    ...(parent === undefined ? {} : { parent_span_id: parent }),
    project_name: projectName,
    name: step.name,
    type: step.kind === 'generation' ? 'llm' : step.kind === 'tool' ? 'tool' : 'general',
    start_time: isoTime(step.startedAt),
    end_time: isoTime(step.endedAt),
    ...details(record, step),
    ...errorInfo(step.error),
  }
}

/** The caller's own parent that cannot be kept is only in the metadata, because no other id would lead to it. */
function parentUuid(record: DeliveryRecord, step: TraceStep): string | undefined {
  if (step.parentId === undefined) return undefined
  if (!step.isTop) return stepUuid(record, step.parentId)
  return callerUuid(step.parentId, record)
}

function details(record: DeliveryRecord, step: TraceStep): object {
  const { generation } = record
  if (step.child !== undefined) {
    const { input, output, attributes } = step.child
    return {
      ...(input === undefined ? {} : { input: { value: input } }),
      ...(output === undefined ? {} : { output: { value: output } }),
      metadata: attributes,
    }
  }
  if (step.kind === 'wrapper') return { ...inputAndOutput(record), metadata: metadataObject(record) }
  const { cost } = generation
  return {
    ...inputAndOutput(record),
    metadata: {
      ...metadataObject(record),
      gateway_observation_id: step.id,
      ...(record.ids.parent === undefined ? {} : { parent_span_id: record.ids.parent }),
      ...(generation.finishReason === undefined ? {} : { finish_reason: generation.finishReason }),
      ...(hasCost(record) ? { input_cost: cost.input, output_cost: cost.output, total_cost: cost.total } : {}),
      model_parameters: modelParameters(record),
    },
    model: modelSlug(record),
    ...(generation.provider === undefined ? {} : { provider: generation.provider }),
    ...(hasUsage(record) ? { usage: usage(record) } : {}),
    ...(hasCost(record) ? { total_estimated_cost: cost.total } : {}),
    ...(generation.firstTokenMs === undefined ? {} : { ttft: generation.firstTokenMs }),
    ...(record.tags.length === 0 ? {} : { tags: record.tags }),
  }
}

/** Only integers; costs are elsewhere. */
function usage({ generation }: DeliveryRecord): { readonly [name: string]: number } {
  const { usage: tokens } = generation
  return {
    prompt_tokens: tokens.inputTokens,
    completion_tokens: tokens.outputTokens,
    total_tokens: tokens.totalTokens,
    cached_tokens: tokens.cachedTokens,
    cache_creation_tokens: tokens.cacheWriteTokens,
    reasoning_tokens: tokens.reasoningTokens,
  }
}

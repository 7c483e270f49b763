import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, DestinationContext, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { classifyHttp } from '../core/outcome.ts'
import { otlpSpanId, uuidFromId } from '../lib/derived-id.ts'
import { cutText } from './shared/attributes.ts'
import { toChatAnswer, toChatMessages, toChatTools } from './shared/chat-shape.ts'
import { hasCost, hasUsage, isEmbedding, modelSlug } from './shared/gen-ai-attributes.ts'
import { readObject } from './shared/read-answer.ts'
import { isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
import { destinationSettings, HEADER_SECRETS, httpUrl, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
import { traceSteps, type TraceStep } from './shared/trace-steps.ts'

const MAX_DEPTH = 3
const MAX_ID_CHARS = 200
/** Characters of metadata on all attempts and tools of a generation together. An agent's hundreds of them would fill a request with copies. */
const MAX_REPEATED_CHARS = 100_000
/** Otherwise the platform looks up the address that the request came from, and the gateway's city becomes the user's. */
const NO_PLACE = { $geoip_disable: true }

const settings = destinationSettings({
  apiKey: requiredText('Project API key.'),
  endpoint: httpUrl('Ingestion address of the region (EU: https://eu.i.posthog.com) or of your own server.').default('https://us.i.posthog.com'),
})
type PosthogSettings = z.output<typeof settings>

interface CaptureEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly uuid: string
  readonly properties: { readonly [name: string]: unknown }
}

/** PostHog LLM analytics through event capture. The platform recognises repeated events by their uuid. */
export const posthog: Destination<PosthogSettings> = {
  type: 'posthog',
  name: 'PostHog',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  // An event may have a megabyte, measured as text inside the JSON of the platform's queue. Larger ones are accepted but then discarded.
  limits: { records: 100, bytes: 700_000 },
  encode: (batch, options) => [capture(options, batch.flatMap(toEvents))],
  classify,
  // A project key only permits writing, so the test is an event.
  probe: (options, context) => [{ name: 'send a test event', request: capture(options, [testEvent(context)]) }],
}

function capture({ apiKey, endpoint, headers }: PosthogSettings, batch: readonly CaptureEvent[]): OutgoingRequest {
  return {
    method: 'POST',
    url: joinUrl(endpoint, '/batch/'),
    headers: mergeHeaders(headers, { 'content-type': 'application/json' }),
    body: JSON.stringify({ api_key: apiKey, batch }),
    compress: 'gzip',
  }
}

const testEvent = ({ destinationId, now }: DestinationContext): CaptureEvent => ({
  event: 'gateway connection test',
  distinct_id: `gateway-${destinationId}`,
  timestamp: isoTime(now),
  uuid: uuidFromId(`${destinationId}:test:${now}`),
  properties: { ...NO_PLACE, $process_person_profile: false },
})

/** Quotas that the events count against, as the platform names them. Those of recordings, flags and the like concern others. */
const OWN_QUOTAS: ReadonlySet<unknown> = new Set(['events', 'llm_events'])

/**
 * Over quota the platform answers with a success and stores nothing: an unpaid account, except for the status. Generations wait until it takes them.
 */
function classify(response: OutgoingResponse): DeliveryOutcome {
  const outcome = classifyHttp(response)
  if (outcome.kind !== 'delivered') return outcome
  const limited = readObject(response)?.['quota_limited']
  if (!Array.isArray(limited) || limited.length === 0) return outcome
  const message = `over quota: ${limited.join(', ').slice(0, 200)}`
  return { kind: limited.some((quota) => OWN_QUOTAS.has(quota)) ? 'unauthorized' : 'delivered', message }
}

function toEvents(record: DeliveryRecord): readonly CaptureEvent[] {
  const { generation } = record
  const user = toPersonId(generation.externalUser)
  // Events without a person's id are silently dropped, but events without a user must not create a person.
  const anyone = toPersonId(generation.sessionId) || toPersonId(record.ids.trace)
  const steps = traceSteps(record).filter((step) => worthAnEvent(record, step))
  const metadata = metadataProperties(record)
  const isRepeated = JSON.stringify(metadata).length * record.children.length <= MAX_REPEATED_CHARS
  return steps.map((step) => ({
    event: step.kind !== 'generation' ? '$ai_span' : isEmbedding(record) ? '$ai_embedding' : '$ai_generation',
    distinct_id: user === '' ? anyone : user,
    timestamp: isoTime(step.startedAt),
    uuid: uuidFromId(step.id),
    properties: {
      ...(step.child === undefined || isRepeated ? metadata : {}),
      ...common(record, step),
      ...NO_PLACE,
      ...(user === '' ? { $process_person_profile: false } : {}),
      ...details(record, step),
    },
  }))
}

const toPersonId = (id = ''): string => cutText(id.trim(), MAX_ID_CHARS)

/** Every event costs money, so an attempt that says no more than its generation is not sent. */
const worthAnEvent = (record: DeliveryRecord, step: TraceStep): boolean => step.kind !== 'attempt' || record.generation.attempts.length > 1

function common(record: DeliveryRecord, step: TraceStep): object {
  const { generation, ids, names } = record
  return {
    $ai_trace_id: toAiId(ids.trace),
    ...(generation.sessionId === undefined ? {} : { $ai_session_id: generation.sessionId }),
    $ai_span_id: toAiId(step.id),
    $ai_span_name: step.name,
    ...(step.parentId === undefined ? {} : { $ai_parent_id: toAiId(step.parentId) }),
    $ai_latency: (step.endedAt - step.startedAt) / 1000,
    $ai_is_error: step.error !== undefined,
    ...(step.error === undefined ? {} : { $ai_error: `${step.error.type}: ${step.error.message}` }),
    trace_name: names.trace,
  }
}

/**
 * The platform drops an event if its trace id contains other characters. Ids that name a span or the trace as a parent must stay equal to it, so all are
 * converted in the same way. If characters are replaced a hash is appended, because otherwise the ids of callers who do not write Latin letters would all
 * be equal.
 */
function toAiId(id: string): string {
  const known = id.replace(/[^A-Za-z0-9\-_~.@()!':|]/g, '_')
  return known === id ? id : `${known}_${otlpSpanId(id)}`
}

function metadataProperties(record: DeliveryRecord): { readonly [name: string]: unknown } {
  const properties = Object.entries(metadataObject(record)).map(([key, value]): [string, unknown] => [`metadata_${key}`, capDepth(value, MAX_DEPTH)])
  return Object.fromEntries([...properties, ...(record.tags.length === 0 ? [] : [['metadata_tags', record.tags] as const])])
}

function capDepth(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return '[truncated]'
  if (Array.isArray(value)) return value.map((element) => capDepth(element, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([key, element]) => [key, capDepth(element, levels - 1)]))
}

function details(record: DeliveryRecord, step: TraceStep): object {
  if (step.kind === 'generation') return generationProperties(record)
  if (step.child !== undefined) {
    const { input, output, attributes } = step.child
    return {
      ...attributes,
      ...(input === undefined ? {} : { $ai_input_state: input }),
      ...(output === undefined ? {} : { $ai_output_state: output }),
    }
  }
  return record.content === undefined ? {} : { $ai_input_state: toChatMessages(record.content), $ai_output_state: toChatAnswer(record.content) }
}

function generationProperties(record: DeliveryRecord): object {
  const { generation, content } = record
  const { usage, cost } = generation
  const tools = toChatTools(content?.tools)
  const parameters = modelParameters(record)
  return {
    $ai_model: modelSlug(record),
    ...(generation.provider === undefined ? {} : { $ai_provider: generation.provider }),
    ...(content === undefined ? {} : { $ai_input: toChatMessages(content) }),
    ...(content === undefined || isEmbedding(record) ? {} : { $ai_output_choices: [toChatAnswer(content)] }),
    ...(tools.length === 0 ? {} : { $ai_tools: tools }),
    ...(parameters === undefined ? {} : { $ai_model_parameters: parameters }),
    ...(hasUsage(record)
      ? {
          $ai_input_tokens: usage.inputTokens,
          $ai_output_tokens: usage.outputTokens,
          $ai_reasoning_tokens: usage.reasoningTokens,
          $ai_cache_read_input_tokens: usage.cachedTokens,
          $ai_cache_creation_input_tokens: usage.cacheWriteTokens,
          // Without this, the platform assumes true for model authors that count exclusively, and adds cached tokens to counts that already include them.
          $ai_cache_reporting_exclusive: false,
        }
      : {}),
    ...(hasCost(record) ? { $ai_input_cost_usd: cost.input, $ai_output_cost_usd: cost.output, $ai_total_cost_usd: cost.total } : {}),
    ...(generation.firstTokenMs === undefined ? {} : { $ai_time_to_first_token: generation.firstTokenMs / 1000 }),
    $ai_stream: generation.streamed,
    ...(generation.finishReason === undefined ? {} : { $ai_stop_reason: generation.finishReason }),
    $ai_http_status: generation.httpStatus,
  }
}

import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import { DESTINATION_DEFAULTS, type Destination, type OutgoingRequest, type OutgoingResponse } from '../core/destination.ts'
import { classifyHttp } from '../core/outcome.ts'
import { defined } from '../lib/defined.ts'
import type { AttributeSet } from './shared/attributes.ts'
import { messageText, toChatAnswer, toChatMessages } from './shared/chat-shape.ts'
import { genAiAttributes, hasCost, hasUsage, modelSlug, traceAttributes } from './shared/gen-ai-attributes.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { isoTime, ownMetadata } from './shared/record-metadata.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, mergeHeaders } from './shared/settings.ts'

const settings = destinationSettings({
  writeKey: headerSecret('Write key of the organisation.'),
  baseUrl: httpUrl('Address of the API.').default('https://api.raindrop.ai'),
  project: z
    .string()
    // Any other slug is answered with 400, so nothing would arrive.
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'is no slug of a project')
    .optional()
    .describe('Slug of the project, as in its address. Without it: the default project.'),
})
type RaindropSettings = z.output<typeof settings>

const limit = { maxChars: DESTINATION_DEFAULTS.valueChars }

const authentication = ({ writeKey, project }: RaindropSettings): { readonly [name: string]: string } => ({
  authorization: `Bearer ${writeKey}`,
  ...(project === undefined ? {} : { 'x-raindrop-project-id': project }),
})

const target = (options: RaindropSettings): OtlpTarget => ({
  url: tracesUrl(options.baseUrl),
  headers: options.headers,
  authentication: authentication(options),
  // The platform accepts compression only with protobuf.
  encoding: 'protobuf',
})

/**
 * Raindrop: an event per generation (raindrop.ai/docs/sdk/http-api), on which its lists, conversations and signals are based, and the spans over OTLP. The
 * event's id makes repeats recognisable and connects the two.
 */
export const raindrop: Destination<RaindropSettings> = {
  type: 'raindrop',
  name: 'Raindrop',
  settings,
  secrets: ['writeKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 1_000_000 },
  encode: (batch, options, context) => [trackRequest(batch, options), otlpRequest(batch, context, target(options), spans)],
  classify: (response, { url }) => (new URL(url).pathname.endsWith(EVENTS_PATH) ? classifyHttp(response) : classifyOtlp(response)),
  probe: (options, context) => [
    ...otlpProbe(context, target(options)),
    { name: 'find where events go', request: trackRequest([], options), check: checkEvents },
  ],
}

// ---- spans ----

const spans: OtlpOptions = {
  ...limit,
  generation: (record) => associate(genAiAttributes(record, limit), record),
  wrapper: (record) => associate(traceAttributes(record, limit), record),
  child: (_child, set, record) => void associate(set, record),
}

/** The names that the platform's own clients use to associate a span. */
function associate(set: AttributeSet, record: DeliveryRecord): AttributeSet {
  const { generation } = record
  return set
    .string('traceloop.association.properties.event_id', generation.id)
    .string('traceloop.association.properties.event_name', EVENT)
    .string('traceloop.association.properties.user_id', userOf(record))
    .string('traceloop.association.properties.convo_id', generation.sessionId)
}

// ---- events ----

const EVENT = 'llm_generation'
const EVENTS_PATH = '/events/track'

/** The user of an event, which every event must have. */
const userOf = ({ generation, ids }: DeliveryRecord): string => generation.externalUser ?? generation.sessionId ?? ids.trace

/** The events endpoint is next to the endpoint for spans. */
function trackRequest(batch: readonly DeliveryRecord[], options: RaindropSettings): OutgoingRequest {
  const url = new URL(tracesUrl(options.baseUrl))
  url.pathname = url.pathname.replace(/\/traces\/*$/, EVENTS_PATH)
  return {
    method: 'POST',
    url: url.href,
    headers: mergeHeaders(options.headers, { 'content-type': 'application/json', ...authentication(options) }),
    body: JSON.stringify(batch.map(toEvent)),
  }
}

/** An empty batch may be refused for being empty, so only other refusals count. */
function checkEvents(response: OutgoingResponse): string | undefined {
  const isClosed = response.status === 404 || classifyHttp(response).kind === 'unauthorized'
  return isClosed ? `events are not taken here: HTTP ${response.status}` : undefined
}

function toEvent(record: DeliveryRecord): object {
  const { generation } = record
  return {
    event_id: generation.id,
    event: EVENT,
    user_id: userOf(record),
    timestamp: isoTime(generation.startedAt),
    properties: toProperties(record),
    ...toAiData(record),
  }
}

/** The last question and the answer. Events without either are refused, so a private event describes its conversation in the properties. */
function toAiData(record: DeliveryRecord): object {
  const { content, generation } = record
  if (content === undefined) return {}
  const input = toChatMessages(content).findLast(({ role }) => role === 'user')
  const texts = {
    ...(input === undefined ? {} : { input: messageText(input) }),
    output: messageText(toChatAnswer(content)),
  }
  const notEmpty = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))
  if (Object.keys(notEmpty).length === 0) return {}
  return { ai_data: { model: modelSlug(record), ...notEmpty, ...(generation.sessionId === undefined ? {} : { convo_id: generation.sessionId }) } }
}

/** The caller's keys unchanged, with the platform's names for everything else. */
function toProperties(record: DeliveryRecord): object {
  const { generation, names, ids, tags, failure } = record
  const { usage, cost } = generation
  const known = defined({
    trace_id: ids.trace,
    trace_name: names.trace,
    model: modelSlug(record),
    provider: generation.provider,
    finish_reason: generation.finishReason,
    duration_ms: generation.durationMs,
    first_token_ms: generation.firstTokenMs,
    convo_id: generation.sessionId,
    api_key_name: generation.keyName,
    tags: tags.length === 0 ? undefined : tags,
    error_type: failure?.type,
    error_message: failure?.message,
    ...(hasUsage(record)
      ? {
          prompt_tokens: usage.inputTokens,
          completion_tokens: usage.outputTokens,
          total_tokens: usage.totalTokens,
          cached_tokens: usage.cachedTokens,
          reasoning_tokens: usage.reasoningTokens,
        }
      : {}),
    ...(hasCost(record) ? { input_cost: cost.input, output_cost: cost.output, total_cost: cost.total } : {}),
  })
  return { ...ownMetadata(record), ...known }
}

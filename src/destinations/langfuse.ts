import type { z } from 'zod'
import type { ChildSpan, DeliveryRecord } from '../core/delivery.ts'
import type { Destination } from '../core/destination.ts'
import { createAttributes, cutText, type AttributeSet } from './shared/attributes.ts'
import { toChatAnswer } from './shared/chat-shape.ts'
import { hasCost, hasUsage, isEmbedding, modelSlug, promptObject } from './shared/gen-ai-attributes.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { ownMetadata } from './shared/record-metadata.ts'
import { basicAuth, destinationSettings, HEADER_SECRETS, httpUrl, joinUrl, requiredText } from './shared/settings.ts'

const settings = destinationSettings({
  secretKey: requiredText('Secret key of the project.'),
  publicKey: requiredText('Public key of the project.'),
  baseUrl: httpUrl('Address of the Langfuse server: the region (EU: https://cloud.langfuse.com) or your own server.').default(
    'https://us.cloud.langfuse.com',
  ),
})
type LangfuseSettings = z.output<typeof settings>

/** A value, together with everything next to it, must not exceed 9.5 MB. */
const MAX_VALUE_CHARS = 4_000_000
const limit = { maxChars: MAX_VALUE_CHARS }
/** Traces with longer names are accepted but then dropped (github.com/langfuse/langfuse/pull/4441). */
const MAX_NAME_CHARS = 1_000

const target = ({ secretKey, publicKey, baseUrl, headers }: LangfuseSettings): OtlpTarget => ({
  url: joinUrl(baseUrl, '/api/public/otel/v1/traces'),
  headers,
  // Version 4 uses the direct write path; anything higher is refused.
  authentication: { authorization: basicAuth(publicKey, secretKey), 'x-langfuse-ingestion-version': '4' },
  encoding: 'json',
})

const spans: OtlpOptions = {
  ...limit,
  generation: generationAttributes,
  wrapper: wrapperAttributes,
  child: childAttributes,
  resource: (record, set) => setEnvironment(set, record),
}

/** Langfuse through its own attributes: with the generic ones it would count cached tokens twice, and would see neither cost nor trace name. */
export const langfuse: Destination<LangfuseSettings> = {
  type: 'langfuse',
  name: 'Langfuse',
  settings,
  secrets: ['secretKey', 'publicKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000, valueChars: MAX_VALUE_CHARS },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), spans)],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}

function generationAttributes(record: DeliveryRecord): AttributeSet {
  const { generation, failure } = record
  const set = createAttributes(limit)
  setTrace(set, record)
  set
    .string('langfuse.observation.type', isEmbedding(record) ? 'embedding' : 'generation')
    .string('langfuse.observation.model.name', modelSlug(record))
    .json('langfuse.observation.model.parameters', modelParameters(record))
    .json('langfuse.observation.usage_details', usageDetails(record))
    .json('langfuse.observation.cost_details', costDetails(record))
    .string('langfuse.observation.level', failure === undefined ? 'DEFAULT' : 'ERROR')
    .string('langfuse.observation.status_message', failure?.message)
  if (generation.firstTokenMs !== undefined) {
    set.string('langfuse.observation.completion_start_time', new Date(generation.startedAt + generation.firstTokenMs).toISOString())
  }
  setContent(set, record)
  if (record.names.wrapper === undefined) setTraceContent(set, record)
  for (const [key, value] of Object.entries(record.gateway)) set.any(`langfuse.observation.metadata.gateway.${key}`, value)
  for (const [key, value] of Object.entries(record.broadcast ?? {})) set.any(`langfuse.observation.metadata.gateway_generation.${key}`, value)
  if (generation.finishReason !== undefined) set.string('langfuse.observation.metadata.finish_reason', generation.finishReason)
  return set
}

function wrapperAttributes(record: DeliveryRecord): AttributeSet {
  const set = createAttributes(limit)
  setTrace(set, record)
  set.string('langfuse.observation.type', 'span').string('langfuse.observation.level', record.failure === undefined ? 'DEFAULT' : 'ERROR')
  setContent(set, record)
  setTraceContent(set, record)
  return set
}

function childAttributes(child: ChildSpan, set: AttributeSet, record: DeliveryRecord): void {
  set
    .string('langfuse.observation.type', child.kind === 'tool' ? 'tool' : 'span')
    // A failed attempt is a warning and not an error if another attempt served.
    .string('langfuse.observation.level', child.ok ? 'DEFAULT' : record.failure === undefined ? 'WARNING' : 'ERROR')
    .string('langfuse.observation.status_message', child.message)
    .string('langfuse.observation.input', child.input)
    .string('langfuse.observation.output', child.output)
  setTraceKeys(set, record)
}

/** Attributes of the trace must be on every span that should update it. */
function setTrace(set: AttributeSet, record: DeliveryRecord): void {
  setTraceKeys(set, record)
  const { environment, release } = record
  for (const [key, value] of Object.entries(ownMetadata(record))) {
    // Environment and release have attributes of their own.
    const isSet = (key === 'environment' && value === environment) || (key === 'release' && value === release)
    if (!isSet) set.any(`langfuse.trace.metadata.${key}`, value)
  }
}

/** Attributes by which observations are found: each is stored and filtered separately. */
function setTraceKeys(set: AttributeSet, record: DeliveryRecord): void {
  set
    .string('langfuse.trace.name', cutText(record.names.trace, MAX_NAME_CHARS))
    .strings('langfuse.trace.tags', record.tags)
    .string('user.id', record.generation.externalUser)
    .string('session.id', record.generation.sessionId)
  setEnvironment(set, record)
}

/** Also set on the span around a generation: from version 4 on a trace shows the content of its topmost observation, and evaluators see no other. */
function setContent(set: AttributeSet, record: DeliveryRecord): void {
  if (record.content === undefined) return
  set.json('langfuse.observation.input', promptObject(record)).json('langfuse.observation.output', toChatAnswer(record.content))
}

/** A trace takes its input and output from its root. A generation below a span of the caller is not the root. */
function setTraceContent(set: AttributeSet, record: DeliveryRecord): void {
  if (record.content === undefined || record.ids.parent !== undefined) return
  set.json('langfuse.trace.input', promptObject(record)).json('langfuse.trace.output', toChatAnswer(record.content))
}

function setEnvironment(set: AttributeSet, record: DeliveryRecord): void {
  set.string('langfuse.environment', toEnvironment(record.environment)).string('langfuse.release', record.release)
}

/** Lower case, at most 40 of `a-z 0-9 - _`, and not starting with the platform's own name. */
function toEnvironment(environment: string | undefined): string | undefined {
  if (environment === undefined) return undefined
  const name = environment
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .replace(/^(langfuse)+/, '')
    .slice(0, 40)
  return name === '' ? 'default' : name
}

function modelParameters(record: DeliveryRecord): Readonly<Record<string, unknown>> | undefined {
  const { tools: _tools, ...parameters } = record.generation.parameters
  return Object.keys(parameters).length === 0 ? undefined : parameters
}

/** The classes are disjoint, because the platform adds them up. */
function usageDetails(record: DeliveryRecord): Readonly<Record<string, number>> | undefined {
  if (!hasUsage(record)) return undefined
  const { usage } = record.generation
  return {
    input: usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens,
    input_cached_tokens: usage.cachedTokens,
    input_cache_creation: usage.cacheWriteTokens,
    output: usage.outputTokens - usage.reasoningTokens,
    output_reasoning_tokens: usage.reasoningTokens,
    total: usage.totalTokens,
  }
}

function costDetails(record: DeliveryRecord): Readonly<Record<string, number>> | undefined {
  const { input, output, total } = record.generation.cost
  return hasCost(record) ? { input, output, total } : undefined
}

import { z } from 'zod'
import { roundCost, roundUsd } from '../../core/cost.ts'
import { API_TYPES, finishReasonOf, routerOf, type Generation, type GenerationAttempt, type GenerationStep } from '../../core/generation.ts'
import type { GenerationFilter } from '../../core/store.ts'
import { figuresOf } from './generation-shapes.ts'
import { isoTime, limitField } from './request-input.ts'
import { component } from './route-doc.ts'

/** Shapes of `/api/v1/generations` on the wire; null stands for what is not known. */

const name = z.string().max(512).optional()
const time = z.iso.datetime({ offset: true, error: 'a time such as 2026-01-31T12:00:00Z is expected' }).optional()
const status = z.enum(['completed', 'incomplete', 'failed', 'cancelled'])

export const generationsQuery = z.object({
  limit: limitField,
  cursor: z.string().max(4_096).optional().describe('The `next_cursor` of the previous page.'),
  workspace_id: z.string().min(1, 'the id of a workspace is expected').max(64).optional(),
  model: name.describe('The model that served the call, or the requested one.'),
  provider: name.describe('Slug.'),
  status: status.optional(),
  error_type: name,
  api_key_hash: z.string().max(128).optional(),
  session_id: name,
  from: time.describe('Calls that started at or after this time.'),
  to: time.describe('Calls that started before this time.'),
})

/** The filter of a query, without its workspace. */
export function filterOf(query: z.output<typeof generationsQuery>): GenerationFilter {
  const { model, provider, status: ended, error_type: errorType, api_key_hash: keyHash, session_id: sessionId, from, to } = query
  return {
    ...(from === undefined ? {} : { from: Date.parse(from) }),
    ...(to === undefined ? {} : { to: Date.parse(to) }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(ended === undefined ? {} : { status: ended }),
    ...(errorType === undefined ? {} : { errorType }),
    ...(keyHash === undefined ? {} : { keyHash }),
    ...(sessionId === undefined ? {} : { sessionId }),
  }
}

const text = z.string().nullable()
const count = z.int()
const milliseconds = z.number().nullable().describe('Milliseconds.')
const usd = z.number().describe('USD.')
const someUsd = z.number().nullable().describe('USD.')

const summaryFields = {
  id: z.string(),
  created_at: z.iso.datetime().describe('When the call started.'),
  workspace_id: z.string(),
  api_key_hash: z.string(),
  api_key_name: z.string(),
  api_type: z.enum(API_TYPES),
  requested_model: z.string(),
  model: text.describe('The model that served the call; null if none did.'),
  provider: text.describe('Slug.'),
  provider_name: text,
  endpoint_id: text,
  status,
  finish_reason: text,
  error_type: text,
  error_message: text,
  http_status: z.int(),
  streamed: z.boolean(),
  is_byok: z.boolean(),
  session_id: text,
  external_user: text.describe("The caller's `user`."),
  tokens_prompt: count.nullable(),
  tokens_completion: count.nullable(),
  native_tokens_reasoning: count.nullable(),
  native_tokens_cached: count.nullable(),
  total_cost: usd,
  cost_source: z.enum(['upstream', 'catalog', 'unknown']).describe('`unknown`: part of it has no price, and the amount is the rest.'),
  upstream_inference_cost: z.number().nullable().describe('USD by list price, if an own provider key paid.'),
  latency: milliseconds.describe('Milliseconds to the first content.'),
  generation_time: milliseconds.describe('Milliseconds of the whole call.'),
}

const summary = component('GenerationSummary', z.object({ ...summaryFields, attempts: count.describe('How many endpoints were tried.') }))
export const generationsAnswer = z.object({
  data: z.array(summary),
  next_cursor: z
    .string()
    .nullable()
    .describe(
      'Cursor of the next page. A page covers a limited number of records, so it may be short or empty although there are more: continue until this is null.',
    ),
})

const attempt = component(
  'GenerationAttempt',
  z.object({
    provider: z.string().describe('Slug.'),
    provider_name: z.string(),
    model: z.string(),
    upstream_model: z.string(),
    endpoint_id: z.string(),
    status: z.int(),
    started_at: z.iso.datetime(),
    latency: milliseconds.describe('Milliseconds to the first content.'),
    duration: milliseconds,
    error_type: text,
    error_message: text,
    upstream_id: text,
    is_byok: z.boolean(),
    cost: z.number().nullable().describe('USD of its output, if it produced part of the answer.'),
  }),
)
const step = z.object({
  kind: z.literal('tool'),
  name: z.string(),
  item_id: z.string(),
  started_at: z.iso.datetime(),
  duration_ms: z.number(),
  error_type: text,
  error_message: text,
})
const stage = z.object({
  type: z.enum(['guardrail', 'plugin', 'server_tools', 'response_healing', 'context_compression']),
  name: z.string(),
  summary: z.string().optional(),
  data: z.record(z.string(), z.unknown()).readonly().optional(),
  cost_usd: z.number().nullable().optional(),
  guardrail_id: z.string().optional(),
  guardrail_scope: z.string().optional(),
})
const anything = z.record(z.string(), z.unknown()).readonly()

const detail = component(
  'GenerationDetail',
  z.object({
    ...summaryFields,
    attempts: z.array(attempt),
    request_id: text,
    upstream_id: text,
    upstream_model: text,
    user_id: text,
    origin: text,
    http_referer: text,
    user_agent: text,
    router: text.describe('How the model was chosen, if the caller did not name it: `gateway/auto`, `fallback`, `latest` or `alias`.'),
    strategy: z.string(),
    preset_id: text,
    response_cache_source_id: text.describe('The generation whose answer was reused.'),
    service_tier: text,
    output_type: z.enum(['json', 'image']).nullable().describe('The requested output, if it is not text.'),
    native_finish_reason: text,
    routing_time: milliseconds.describe('Milliseconds until the request was sent to the upstream that served it.'),
    cost: z
      .object({
        total: usd,
        input: usd,
        output: usd,
        cache_discount: z.number().describe('USD that caching saved; negative if it cost more.'),
        byok: z.number().describe("USD of the total charged to the caller's own provider accounts."),
        extras: z.record(z.string(), z.number()).readonly().describe('USD for tools, plugins and charges per request; part of the total.'),
        source: z.enum(['upstream', 'catalog', 'unknown']),
      })
      .describe("The full cost of the call; `total_cost` is the part paid with the gateway's credentials."),
    unit_prices: z.object({ input: someUsd, output: someUsd }).nullable().describe('USD per million tokens.'),
    pipeline: z.array(stage).readonly().describe('Stages that processed the call.'),
    steps: z.array(step).describe('Tools that the gateway ran, if their times were stored.'),
    trace: anything.nullable(),
    metadata: z.record(z.string(), z.string()).readonly().nullable(),
    parameters: anything,
  }),
)
export const generationDetailAnswer = z.object({ data: detail })

type SummaryFields = { readonly [K in keyof typeof summaryFields]: z.output<(typeof summaryFields)[K]> }

function summaryFieldsOf(record: Generation): SummaryFields {
  const figures = figuresOf(record)
  return {
    id: record.id,
    created_at: isoTime(record.startedAt),
    workspace_id: record.workspaceId,
    api_key_hash: record.keyHash,
    api_key_name: record.keyName,
    api_type: record.apiType,
    requested_model: record.requestedModel,
    model: record.model ?? null,
    provider: record.provider ?? null,
    provider_name: record.providerName ?? null,
    endpoint_id: record.endpointId ?? null,
    status: record.status,
    finish_reason: finishReasonOf(record) ?? null,
    error_type: record.errorType ?? null,
    error_message: record.errorMessage ?? null,
    http_status: record.httpStatus,
    streamed: record.streamed,
    is_byok: record.isByok,
    session_id: record.sessionId ?? null,
    external_user: record.externalUser ?? null,
    tokens_prompt: figures.tokens_prompt,
    tokens_completion: figures.tokens_completion,
    native_tokens_reasoning: figures.native_tokens_reasoning,
    native_tokens_cached: figures.native_tokens_cached,
    total_cost: figures.total_cost,
    cost_source: record.cost.source,
    upstream_inference_cost: figures.upstream_inference_cost,
    latency: record.firstTokenMs ?? null,
    generation_time: record.durationMs,
  }
}

/** A record as a line of the list. Times in milliseconds, money in USD. */
export const presentSummary = (record: Generation): z.output<typeof summary> => ({ ...summaryFieldsOf(record), attempts: record.attempts.length })

const presentUnitPrices = ({ unitPrices }: Generation): z.output<typeof detail>['unit_prices'] =>
  unitPrices === undefined ? null : { input: unitPrices.input ?? null, output: unitPrices.output ?? null }

/** A whole record. Times in milliseconds, money in USD. */
export function presentDetail(record: Generation): z.output<typeof detail> {
  return {
    ...summaryFieldsOf(record),
    attempts: record.attempts.map(presentAttempt),
    request_id: record.requestId ?? null,
    upstream_id: record.upstreamId ?? null,
    upstream_model: record.upstreamModel ?? null,
    user_id: record.userId ?? null,
    origin: record.origin ?? null,
    http_referer: record.referer ?? null,
    user_agent: record.userAgent ?? null,
    router: routerOf(record) ?? null,
    strategy: record.strategy,
    preset_id: record.presetId ?? null,
    response_cache_source_id: record.cacheSourceId ?? null,
    service_tier: record.serviceTier ?? null,
    output_type: record.outputType ?? null,
    native_finish_reason: record.nativeFinishReason ?? null,
    routing_time: record.routerMs ?? null,
    cost: presentCost(record),
    unit_prices: presentUnitPrices(record),
    pipeline: record.pipeline,
    steps: (record.steps ?? []).map(presentStep),
    trace: record.trace ?? null,
    metadata: record.metadata ?? null,
    parameters: record.parameters,
  }
}

function presentCost(record: Generation): z.output<typeof detail>['cost'] {
  const { cacheDiscount, byok = 0, extras = {}, ...cost } = roundCost(record.cost)
  return { ...cost, cache_discount: cacheDiscount, byok, extras }
}

const presentAttempt = (one: GenerationAttempt): z.output<typeof attempt> => ({
  provider: one.provider,
  provider_name: one.providerName,
  model: one.model,
  upstream_model: one.upstreamModel,
  endpoint_id: one.endpointId,
  status: one.status,
  started_at: isoTime(one.startedAt),
  latency: one.firstTokenMs ?? null,
  duration: one.durationMs ?? null,
  error_type: one.errorType ?? null,
  error_message: one.errorMessage ?? null,
  upstream_id: one.upstreamId ?? null,
  is_byok: one.isByok ?? false,
  cost: one.costUsd === undefined ? null : roundUsd(one.costUsd),
})

const presentStep = (one: GenerationStep): z.output<typeof step> => ({
  kind: one.kind,
  name: one.name,
  item_id: one.itemId,
  started_at: isoTime(one.startedAt),
  duration_ms: one.durationMs,
  error_type: one.errorType ?? null,
  error_message: one.errorMessage ?? null,
})

import { z } from 'zod'
import { gatewayShare, roundCost, roundUsd } from '../../core/cost.ts'
import { finishReasonOf, publicApiType, routerOf, toProviderResponse, upstreamInferenceCost, type Generation } from '../../core/generation.ts'
import { component } from './route-doc.ts'

/** Shapes of `/api/v1/generation` and its content on the wire. */

export const generationQuery = z.object({
  id: z.string({ error: 'the id of a generation is expected, as in ?id=gen-...' }).min(1, 'the id of a generation is expected, as in ?id=gen-...'),
})

const text = z.string().nullable()
const count = z.int().nullable()
const milliseconds = z.number().nullable().describe('Milliseconds.')

const generation = component(
  'Generation',
  z.object({
    id: z.string(),
    upstream_id: text,
    request_id: text,
    session_id: text,
    workspace_id: text,
    api_type: z.enum(['completions', 'embeddings']).nullable(),
    created_at: z.iso.datetime(),
    model: z.string(),
    provider_name: text,
    router: text.describe('How the model was chosen, if the caller did not name it: `gateway/auto`, `fallback`, `latest` or `alias`.'),
    preset_id: text,
    streamed: z.boolean().nullable(),
    cancelled: z.boolean().nullable(),
    finish_reason: text,
    native_finish_reason: text,
    latency: milliseconds,
    generation_time: milliseconds,
    moderation_latency: milliseconds,
    tokens_prompt: count,
    tokens_completion: count,
    native_tokens_prompt: count,
    native_tokens_completion: count,
    native_tokens_reasoning: count,
    native_tokens_cached: count,
    native_tokens_completion_images: count,
    num_media_prompt: count,
    num_media_completion: count,
    num_input_audio_prompt: count,
    num_search_results: count,
    num_fetches: count,
    total_cost: z.number().describe('USD.'),
    usage: z.number().describe('USD.'),
    upstream_inference_cost: z.number().nullable().describe('USD by list price, if an own provider key paid.'),
    cache_discount: z.number().nullable(),
    is_byok: z.boolean(),
    service_tier: text,
    data_region: z.enum(['global']),
    app_id: count,
    external_user: text,
    http_referer: text,
    origin: z.string(),
    user_agent: text,
    web_search_engine: text,
    response_cache_source_id: text,
    provider_responses: z
      .array(
        z.object({
          provider_name: z.string(),
          model_permaslug: z.string(),
          endpoint_id: z.string(),
          status: z.int(),
          is_byok: z.boolean(),
          latency: z.number().optional(),
          id: z.string().optional(),
        }),
      )
      .nullable(),
  }),
)
export const generationAnswer = z.object({ data: generation })
type WireGeneration = z.output<typeof generation>

/** The contract's `GenerationResponse.data`. Times in milliseconds, money in USD. */
export function presentGeneration(record: Generation): WireGeneration {
  return {
    id: record.id,
    upstream_id: record.upstreamId ?? null,
    request_id: record.requestId ?? null,
    session_id: record.sessionId ?? null,
    workspace_id: record.workspaceId,
    api_type: publicApiType(record),
    created_at: new Date(record.startedAt).toISOString(),
    model: record.model ?? record.requestedModel,
    provider_name: record.providerName ?? null,
    router: routerOf(record) ?? null,
    preset_id: record.presetId ?? null,
    streamed: record.streamed,
    cancelled: record.status === 'cancelled',
    finish_reason: finishReasonOf(record) ?? null,
    native_finish_reason: record.nativeFinishReason ?? null,
    latency: record.firstTokenMs ?? null,
    generation_time: record.durationMs,
    moderation_latency: null,
    ...figuresOf(record),
    is_byok: record.isByok,
    service_tier: record.serviceTier ?? null,
    data_region: 'global',
    app_id: null,
    external_user: record.externalUser ?? null,
    http_referer: record.referer ?? null,
    origin: record.origin ?? record.referer ?? '',
    user_agent: record.userAgent ?? null,
    web_search_engine: null,
    response_cache_source_id: record.cacheSourceId ?? null,
    provider_responses: record.attempts.map(toProviderResponse),
  }
}

type Figures = Pick<
  WireGeneration,
  | Extract<keyof WireGeneration, `tokens_${string}` | `native_tokens_${string}` | `num_${string}`>
  | 'total_cost'
  | 'usage'
  | 'cache_discount'
  | 'upstream_inference_cost'
>

/** Tokens and money, for every view of a record. */
export function figuresOf({ usage, cost: exact, isByok }: Generation): Figures {
  const cost = roundCost(exact)
  const paid = roundUsd(gatewayShare(exact))
  return {
    tokens_prompt: usage.inputTokens,
    tokens_completion: usage.outputTokens,
    native_tokens_prompt: usage.inputTokens,
    native_tokens_completion: usage.outputTokens,
    native_tokens_reasoning: usage.reasoningTokens,
    native_tokens_cached: usage.cachedTokens,
    native_tokens_completion_images: usage.imageOutputTokens ?? null,
    num_media_prompt: null,
    num_media_completion: null,
    num_input_audio_prompt: null,
    num_search_results: usage.serverToolUse?.['web_search'] ?? null,
    num_fetches: usage.serverToolUse?.['web_fetch'] ?? null,
    total_cost: paid,
    usage: paid,
    upstream_inference_cost: upstreamInferenceCost({ isByok, cost }),
    cache_discount: cost.cacheDiscount === 0 ? null : cost.cacheDiscount,
  }
}

import { GatewayError } from '../../core/error.ts'
import type { Generation, GenerationAttempt } from '../../core/generation.ts'
import { callerOf, type ManagementRoutes } from './app.ts'

export interface GenerationRouteOptions {
  /** A generation of one workspace, written or still on its way to the store. */
  readonly find: (id: string, workspaceId: string) => Promise<Generation | undefined>
}

/** `GET /api/v1/generation?id=`: the record of one call, for keys of its workspace. */
export function generationRoutes(options: GenerationRouteOptions): ManagementRoutes {
  return (app) => {
    app.get<{ Querystring: { id?: string } }>('/api/v1/generation', { config: { access: 'any' } }, async (request) => {
      const { id } = request.query
      if (typeof id !== 'string' || id === '')
        throw new GatewayError('invalid_request', 'id: the id of a generation is expected, as in ?id=gen-...', { path: 'id' })
      const generation = await options.find(id, callerOf(request).owner.workspaceId)
      if (generation === undefined) throw new GatewayError('not_found', `There is no generation ${id.slice(0, 100)}`)
      return { data: presentGeneration(generation) }
    })
  }
}

/** The contract's `GenerationResponse.data`. Times in milliseconds, money in USD. */
export function presentGeneration(generation: Generation): { readonly [field: string]: unknown } {
  return {
    id: generation.id,
    upstream_id: generation.upstreamId ?? null,
    request_id: generation.requestId ?? null,
    session_id: generation.sessionId ?? null,
    workspace_id: generation.workspaceId,
    api_type: 'completions',
    created_at: new Date(generation.startedAt).toISOString(),
    model: generation.model ?? generation.requestedModel,
    provider_name: generation.providerName ?? null,
    router: generation.strategy === 'direct' ? null : generation.strategy,
    preset_id: generation.presetId ?? null,
    streamed: generation.streamed,
    cancelled: generation.status === 'cancelled',
    finish_reason: generation.finishReason ?? (generation.status === 'failed' ? 'error' : null),
    native_finish_reason: generation.nativeFinishReason ?? null,
    latency: generation.firstTokenMs ?? null,
    generation_time: generation.durationMs,
    moderation_latency: null,
    ...figuresOf(generation),
    is_byok: generation.isByok,
    service_tier: generation.serviceTier ?? null,
    data_region: 'global',
    app_id: null,
    external_user: generation.externalUser ?? null,
    http_referer: generation.referer ?? null,
    origin: generation.origin ?? generation.referer ?? '',
    user_agent: generation.userAgent ?? null,
    web_search_engine: null,
    response_cache_source_id: null,
    provider_responses: generation.attempts.map(presentAttempt),
  }
}

/** Tokens and money. */
function figuresOf({ usage, cost, isByok }: Generation): { readonly [field: string]: unknown } {
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
    num_fetches: null,
    total_cost: cost.total,
    usage: cost.total,
    upstream_inference_cost: isByok ? cost.input + cost.output : null,
    cache_discount: cost.cacheDiscount === 0 ? null : cost.cacheDiscount,
  }
}

function presentAttempt(attempt: GenerationAttempt): { readonly [field: string]: unknown } {
  return {
    provider_name: attempt.providerName,
    model_permaslug: attempt.model,
    endpoint_id: attempt.endpointId,
    status: attempt.status,
    is_byok: attempt.isByok ?? false,
    ...(attempt.firstTokenMs === undefined ? {} : { latency: attempt.firstTokenMs }),
    ...(attempt.upstreamId === undefined ? {} : { id: attempt.upstreamId }),
  }
}

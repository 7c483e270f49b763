import type { Generation } from '../core/generation.ts'
import type { BroadcastGroups } from '../core/outbox.ts'

/**
 * The fields of the public generation record (`GET /api/v1/generation`) in the three groups an owner can opt in to. The groups are a
 * partition: each field stands in one. What a generation does not know is left out.
 *
 * - cost: money. `usage` is what the caller is charged, `upstream_inference_cost` what the provider reports.
 * - identity: who and what asked: application, API key, user, origin, ids of the request.
 * - request context: everything else: model, sizes, timings, finish, provider responses.
 */
type Fields = Readonly<Record<string, unknown>>

const costFields = (g: Generation): Fields => ({
  usage: g.cost.source === 'unknown' ? undefined : g.cost.total,
  total_cost: g.cost.source === 'unknown' ? undefined : g.cost.total,
  upstream_inference_cost: g.usage.reportedCost,
  cache_discount: g.cost.source === 'unknown' ? undefined : g.cost.cacheDiscount,
  is_byok: g.isByok,
})

const identityFields = (g: Generation): Fields => ({
  id: g.id,
  request_id: g.requestId,
  upstream_id: g.upstreamId,
  session_id: g.sessionId,
  workspace_id: g.workspaceId,
  user_id: g.userId,
  external_user: g.externalUser,
  api_key_name: g.keyName,
  api_key_hash: g.keyHash,
  origin: g.origin,
  http_referer: g.referer,
  user_agent: g.userAgent,
})

const requestContextFields = (g: Generation): Fields => ({
  api_type: g.apiType,
  model: g.model ?? g.requestedModel,
  requested_model: g.requestedModel,
  provider_name: g.providerName,
  router: g.strategy,
  service_tier: g.serviceTier,
  preset_id: g.presetId,
  streamed: g.streamed,
  cancelled: g.status === 'cancelled',
  created_at: new Date(g.startedAt).toISOString(),
  latency: g.firstTokenMs,
  generation_time: g.durationMs,
  finish_reason: g.finishReason,
  native_finish_reason: g.nativeFinishReason,
  tokens_prompt: g.usage.inputTokens,
  tokens_completion: g.usage.outputTokens,
  native_tokens_prompt: g.usage.inputTokens,
  native_tokens_completion: g.usage.outputTokens,
  native_tokens_reasoning: g.usage.reasoningTokens,
  native_tokens_cached: g.usage.cachedTokens,
  native_tokens_completion_images: g.usage.imageOutputTokens,
  num_fetches: g.usage.serverToolUse?.['web_fetch'],
  num_search_results: g.usage.serverToolUse?.['web_search'],
  provider_responses: providerResponses(g),
})

/** One entry per upstream attempt, in the order they were made; the form of the public record. */
export function providerResponses(g: Generation): readonly Fields[] {
  return g.attempts.map((attempt) => ({
    provider_name: attempt.providerName,
    model: attempt.model,
    endpoint_id: attempt.endpointId,
    status: attempt.status,
    latency: attempt.durationMs,
    is_byok: attempt.isByok ?? false,
    ...(attempt.upstreamId === undefined ? {} : { id: attempt.upstreamId }),
    ...(attempt.errorType === undefined ? {} : { error_type: attempt.errorType }),
  }))
}

/** The opted-in fields, or undefined when no group is on. */
export function broadcastFields(g: Generation, groups: BroadcastGroups): Fields | undefined {
  if (!groups.cost && !groups.identity && !groups.requestContext) return undefined
  const all = {
    ...(groups.cost ? costFields(g) : {}),
    ...(groups.identity ? identityFields(g) : {}),
    ...(groups.requestContext ? requestContextFields(g) : {}),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null))
}

/** Names of the fields of each group, for the documentation. */
export const BROADCAST_GROUPS = { cost: costFields, identity: identityFields, requestContext: requestContextFields } as const

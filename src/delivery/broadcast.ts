import { gatewayShare, roundUsd } from '../core/cost.ts'
import { finishReasonOf, publicApiType, routerOf, toProviderResponse, upstreamInferenceCost, type Generation } from '../core/generation.ts'
import type { BroadcastGroups } from '../core/outbox.ts'

/**
 * The fields of the public generation record (`GET /api/v1/generation`) in three groups that an owner can opt in to. Every field is in exactly one
 * group, and holds what the record says under that name; unknown values are left out.
 *
 * - cost: money. `usage` is what the gateway's accounts paid, `upstream_inference_cost` the provider's part of it if an own key paid.
 * - identity: who and what asked: application, API key, user, origin, ids of the request.
 * - request context: everything else: model, sizes, timings, finish, provider responses.
 */
type Fields = Readonly<Record<string, unknown>>

const costFields = (g: Generation): Fields => ({
  usage: g.cost.source === 'unknown' ? undefined : roundUsd(gatewayShare(g.cost)),
  total_cost: g.cost.source === 'unknown' ? undefined : roundUsd(gatewayShare(g.cost)),
  upstream_inference_cost: g.cost.source === 'unknown' ? undefined : upstreamInferenceCost(g),
  cache_discount: g.cost.source === 'unknown' || g.cost.cacheDiscount === 0 ? undefined : g.cost.cacheDiscount,
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
  origin: g.origin ?? g.referer,
  http_referer: g.referer,
  user_agent: g.userAgent,
})

const requestContextFields = (g: Generation): Fields => ({
  api_type: publicApiType(g),
  model: g.model ?? g.requestedModel,
  requested_model: g.requestedModel,
  provider_name: g.providerName,
  router: routerOf(g),
  service_tier: g.serviceTier,
  preset_id: g.presetId,
  streamed: g.streamed,
  cancelled: g.status === 'cancelled',
  created_at: new Date(g.startedAt).toISOString(),
  latency: g.firstTokenMs,
  generation_time: g.durationMs,
  finish_reason: finishReasonOf(g),
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
  provider_responses: g.attempts.map(toProviderResponse),
})

export const BROADCAST_GROUPS = { cost: costFields, identity: identityFields, requestContext: requestContextFields } as const

/** The opted-in fields, or undefined if no group is on. */
export function broadcastFields(g: Generation, groups: BroadcastGroups): Fields | undefined {
  const wanted = (Object.keys(BROADCAST_GROUPS) as (keyof typeof BROADCAST_GROUPS)[]).filter((name) => groups[name])
  if (wanted.length === 0) return undefined
  const fields = wanted.flatMap((name) => Object.entries(BROADCAST_GROUPS[name](g)))
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null))
}

import { roundCost } from '../core/cost.ts'
import type { DeliveryFailure, DeliveryIds, DeliveryNames, DeliveryRecord } from '../core/delivery.ts'
import type { Generation, GenerationContent } from '../core/generation.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import { callTraceId, otlpParentSpanId, otlpSpanId, otlpTraceId } from '../lib/derived-id.ts'
import { defined } from '../lib/defined.ts'
import { broadcastFields } from './broadcast.ts'
import { childSpans } from './child-spans.ts'
import { replaceMedia, replaceMediaInGeneration, replaceMediaInValues, toStorable } from './media.ts'
import { toPrivate } from './privacy.ts'

const DEFAULT_TRACE_NAME = 'Gateway Request'
const DEFAULT_GENERATION_NAME = 'LLM Generation'

/** Keys of the caller's `trace` with a meaning of their own; all other keys are metadata. */
const RESERVED = new Set(['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'])

/** What the gateway adds to the caller's keys: facts, opted-in fields, attempts; with dotted keys for platforms that have flat names only. */
const TAKEN = /^(?:gateway|gateway_generation|provider_responses)(?:\.|$)/

const MAX_TAGS = 50

const text = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined)

/** What a destination may see of a generation: applies its owner's privacy and groups, and the caller's names. Pure. */
export function toDeliveryRecord(
  generation: Generation,
  content: GenerationContent | undefined,
  destination: Pick<DestinationRecord, 'privacyMode' | 'broadcast'>,
): DeliveryRecord {
  const visible = replaceMediaInGeneration(destination.privacyMode ? toPrivate(generation) : generation)
  const seen: Generation = { ...visible, cost: roundCost(visible.cost) }
  const shown = destination.privacyMode || content === undefined ? undefined : replaceMedia(content)
  const trace = replaceMediaInValues(generation.trace ?? {})
  // From the original: two traces must not become one because their ids look like media.
  const ids = toIds(generation)
  const failure = toFailure(seen)
  const environment = text(trace['environment'])
  const release = text(trace['release'])
  const broadcast = broadcastFields(seen, destination.broadcast)
  // Content is allowed but was not kept: there was no room for it, or the destination was private when the call ended.
  const truncated = content === undefined && !destination.privacyMode
  return {
    generation: seen,
    ...(shown === undefined ? {} : { content: shown }),
    ids,
    names: toNames(trace),
    metadata: customMetadata(trace, replaceMediaInValues(generation.metadata)),
    gateway: truncated ? { ...gatewayFacts(seen), content_truncated: true } : gatewayFacts(seen),
    ...(broadcast === undefined ? {} : { broadcast }),
    ...(environment === undefined ? {} : { environment }),
    ...(release === undefined ? {} : { release }),
    tags: toTags(trace['tags']),
    children: childSpans(seen, shown),
    ...(failure === undefined ? {} : { failure }),
    truncated,
  }
}

/** A generation without a parent span is the root of its trace, and is named after the trace unless it has a name of its own. */
function toNames(trace: NonNullable<Generation['trace']>): DeliveryNames {
  const [generationName, traceName, wrapper] = [text(trace['generation_name']), text(trace['trace_name']), text(trace['span_name'])]
  const isRoot = wrapper === undefined && text(trace['parent_span_id']) === undefined
  return {
    trace: traceName ?? DEFAULT_TRACE_NAME,
    generation: generationName ?? (isRoot ? traceName : undefined) ?? DEFAULT_GENERATION_NAME,
    ...(wrapper === undefined ? {} : { wrapper }),
  }
}

function toIds(generation: Generation): DeliveryIds {
  const trace = generation.trace ?? {}
  const traceId = callTraceId(trace['trace_id'], generation.id)
  const parent = text(trace['parent_span_id'])
  const wrapper = text(trace['span_name']) === undefined ? undefined : `${generation.id}:span`
  return {
    trace: toStorable(traceId),
    generation: generation.id,
    ...(wrapper === undefined ? {} : { wrapper }),
    ...(parent === undefined ? {} : { parent: toStorable(parent) }),
    otlp: {
      traceId: otlpTraceId(traceId),
      generationSpanId: otlpSpanId(generation.id),
      ...(wrapper === undefined ? {} : { wrapperSpanId: otlpSpanId(wrapper) }),
      ...(parent === undefined ? {} : { parentSpanId: otlpParentSpanId(parent) }),
    },
  }
}

function customMetadata(trace: NonNullable<Generation['trace']>, metadata: Generation['metadata']): Record<string, unknown> {
  const custom: Record<string, unknown> = { ...metadata }
  for (const [key, value] of Object.entries(trace)) {
    if (!RESERVED.has(key) && value !== undefined && value !== null) custom[key] = value
  }
  return Object.keys(custom).some((key) => TAKEN.test(key)) ? withoutTaken(custom) : custom
}

/** If the caller uses one of the gateway's keys, it gets a prefix (`caller_gateway`), so that neither overwrites the other. */
function withoutTaken(custom: Record<string, unknown>): Record<string, unknown> {
  const nameOf = (key: string): string => {
    let name = key
    while (TAKEN.test(name) || (name !== key && name in custom)) name = `caller_${name}`
    return name
  }
  return Object.fromEntries(Object.entries(custom).map(([key, value]) => [nameOf(key), value]))
}

function toTags(value: unknown): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.filter((tag): tag is string => typeof tag === 'string' && tag !== ''))].slice(0, MAX_TAGS) : []
}

function toFailure(generation: Generation): DeliveryFailure | undefined {
  if (generation.status === 'cancelled') return { type: 'cancelled', message: generation.errorMessage ?? 'The caller closed the connection' }
  if (generation.status !== 'failed') return undefined
  return { type: generation.errorType ?? 'server', message: generation.errorMessage ?? `The call failed with HTTP ${generation.httpStatus}` }
}

const named = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

/** Facts about the call that are neither the caller's nor opted in to. Unknown ones are left out. */
function gatewayFacts(generation: Generation): DeliveryRecord['gateway'] {
  return defined({
    source: named(generation.apiType),
    status: named(generation.status),
    http_status: generation.httpStatus,
    api_key_name: named(generation.keyName),
    entity_id: named(generation.workspaceId),
    creator_user_id: named(generation.userId),
    user_id: named(generation.externalUser),
    requested_model: named(generation.requestedModel),
    provider_name: named(generation.providerName),
    provider_slug: named(generation.provider),
    finish_reason: named(generation.nativeFinishReason ?? generation.finishReason),
    input_unit_price: generation.unitPrices?.input,
    output_unit_price: generation.unitPrices?.output,
    first_token_ms: generation.firstTokenMs,
    router_latency_ms: generation.routerMs,
    strategy: named(generation.strategy),
    attempts: generation.attempts.length,
    response_cache_source_id: named(generation.cacheSourceId),
  })
}

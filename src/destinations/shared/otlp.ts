import type { DeliveryRecord } from '../../core/delivery.ts'
import type { DestinationContext, OutgoingRequest, ProbeStep } from '../../core/destination.ts'
import { otlpJson } from './otlp-json.ts'
import { otlpProtobuf } from './otlp-protobuf.ts'
import { connectionTestGroup, toOtlpGroups, type OtlpGroup, type OtlpOptions } from './otlp-spans.ts'
import { joinUrl, mergeHeaders, type Headers } from './settings.ts'

const TRACES_PATH = '/v1/traces'

/** The address that takes spans, even if the base already ends with it, or with its version as some documentation does. */
export function tracesUrl(base: string): string {
  const path = new URL(base).pathname.replace(/\/+$/, '')
  if (path.endsWith(TRACES_PATH)) return base
  return joinUrl(base, path.endsWith('/v1') ? '/traces' : TRACES_PATH)
}

/** How a platform takes OTLP over HTTP. */
export interface OtlpTarget {
  readonly url: string
  readonly method?: 'POST' | 'PUT'
  /** The owner's own headers; the platform's win. */
  readonly headers?: Headers | undefined
  readonly authentication?: Headers
  /** JSON is what the contract promises; protobuf is smaller, and some platforms prefer it. */
  readonly encoding: 'json' | 'protobuf'
  /** Default true; off for receivers that may not know `content-encoding`. */
  readonly gzip?: boolean
}

/** One request with the spans of a batch. */
export function otlpRequest(
  batch: readonly DeliveryRecord[],
  context: DestinationContext,
  target: OtlpTarget,
  options?: OtlpOptions,
): OutgoingRequest {
  return toRequest(toOtlpGroups(batch, context, options), target)
}

/** A connection test with one empty span, under the resource that the type's spans have. */
export function otlpProbe(context: DestinationContext, target: OtlpTarget, options?: Pick<OtlpOptions, 'project'>): readonly ProbeStep[] {
  return [{ name: 'send a test span', request: toRequest([connectionTestGroup(context, options)], target) }]
}

function toRequest(groups: readonly OtlpGroup[], target: OtlpTarget): OutgoingRequest {
  const json = target.encoding === 'json'
  return {
    method: target.method ?? 'POST',
    url: target.url,
    headers: mergeHeaders(target.headers, { 'content-type': json ? 'application/json' : 'application/x-protobuf', ...target.authentication }),
    body: json ? otlpJson(groups) : otlpProtobuf(groups),
    ...(target.gzip === false ? {} : { compress: 'gzip' as const }),
  }
}

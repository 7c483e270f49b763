import type { DeliveryRecord } from '../../core/delivery.ts'

/** The caller's own keys. A list of tags has its place on most platforms; any other value under that name is metadata like the rest. */
export function ownMetadata({ metadata, tags }: DeliveryRecord): { readonly [key: string]: unknown } {
  if (tags.length === 0) return metadata
  const { tags: _tags, ...own } = metadata
  return own
}

/**
 * Everything known about a generation beside its content, as one object: the caller's own keys at the top, the gateway's facts under
 * `gateway`, opted-in fields under `gateway_generation`.
 */
export function metadataObject(record: DeliveryRecord): { readonly [key: string]: unknown } {
  return {
    ...ownMetadata(record),
    gateway: record.gateway,
    ...(record.broadcast === undefined ? {} : { gateway_generation: record.broadcast }),
  }
}

/** Model settings of the request without what is told elsewhere. Undefined when there are none. */
export function modelParameters(record: DeliveryRecord): { readonly [name: string]: unknown } | undefined {
  const { tools: _tools, ...parameters } = record.generation.parameters
  return Object.keys(parameters).length === 0 ? undefined : parameters
}

/** ISO 8601 with milliseconds, UTC. */
export const isoTime = (timeMs: number): string => new Date(timeMs).toISOString()

/** The end, never before the start: clocks may step back between two readings. */
export const endOf = ({ startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number }): number => Math.max(startedAt, endedAt)

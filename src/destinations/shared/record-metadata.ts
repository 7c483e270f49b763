import type { DeliveryRecord } from '../../core/delivery.ts'

/** The caller's own keys. Most platforms have a place for a list of tags; any other value under that name is ordinary metadata. */
export function ownMetadata({ metadata, tags }: DeliveryRecord): { readonly [key: string]: unknown } {
  if (tags.length === 0) return metadata
  const { tags: _tags, ...own } = metadata
  return own
}

/**
 * Everything known about a generation besides its content, as one object: the caller's own keys at the top, the gateway's facts under `gateway`,
 * opted-in fields under `gateway_generation`.
 */
export function metadataObject(record: DeliveryRecord): { readonly [key: string]: unknown } {
  return {
    ...ownMetadata(record),
    gateway: record.gateway,
    ...(record.broadcast === undefined ? {} : { gateway_generation: record.broadcast }),
  }
}

/** Model settings of the request, without those told elsewhere. Undefined if there are none. */
export function modelParameters(record: DeliveryRecord): { readonly [name: string]: unknown } | undefined {
  const { tools: _tools, ...parameters } = record.generation.parameters
  return Object.keys(parameters).length === 0 ? undefined : parameters
}

/** ISO 8601 with milliseconds, UTC. */
export const isoTime = (timeMs: number): string => new Date(timeMs).toISOString()

/** The end, never before the start, because clocks may step back between two readings. */
export const endOf = ({ startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number }): number => Math.max(startedAt, endedAt)

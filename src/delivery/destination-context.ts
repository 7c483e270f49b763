import { join } from 'node:path'
import type { DestinationContext } from '../core/destination.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

/** Ids are ours and look like this; anything else must not name a folder. */
const FOLDER = /^[A-Za-z0-9][A-Za-z0-9_-]{0,100}$/

/**
 * What an encoder may know of the gateway, for one destination. Each workspace has a folder of its own for types that write files: what
 * is private to it must not end up in another's file of the same name.
 */
export function destinationContext(
  destination: Pick<DestinationRecord, 'id' | 'type' | 'workspaceId'>,
  { service, baseUrls, directory }: Pick<DeliveryWorkerOptions, 'service' | 'baseUrls' | 'directory'>,
  { now, attempt }: Pick<DestinationContext, 'now' | 'attempt'>,
): DestinationContext {
  const { id, type, workspaceId } = destination
  const baseUrl = baseUrls?.[type]
  return {
    destinationId: id,
    serviceName: service.name,
    serviceVersion: service.version,
    ...(baseUrl === undefined || baseUrl === null ? {} : { baseUrl }),
    ...(directory === undefined || !FOLDER.test(workspaceId) ? {} : { directory: join(directory, workspaceId) }),
    now,
    attempt,
  }
}

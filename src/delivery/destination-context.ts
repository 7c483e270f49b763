import { join } from 'node:path'
import type { DestinationContext } from '../core/destination.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

/** Our ids look like this; anything else must not become the name of a folder. */
const FOLDER = /^[A-Za-z0-9][A-Za-z0-9_-]{0,100}$/

/**
 * What an encoder may know about the gateway, for one destination. For types that write files each workspace has a folder of its own, so that private
 * data cannot end up in another workspace's file of the same name.
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

import { DESTINATION_DEFAULTS, type Destination, type SendRequest } from '../core/destination.ts'
import { createBlanking } from './blank-secrets.ts'
import type { ReadyDestination } from './lane.ts'
import type { Transport } from './transport.ts'

/** How a type sends what it looks up: answers come without the destination's own secrets, as those of a delivery do. */
export function createLookUp(type: Destination, settings: unknown, transport: Transport, signal: AbortSignal): SendRequest {
  const blank = createBlanking(type, settings)
  const limitMs = type.limits.timeoutMs ?? DESTINATION_DEFAULTS.timeoutMs
  return async (request) => blank(await transport(request, request.timeoutMs ?? limitMs, signal))
}

/**
 * What a type looks up before it sends. Batches on their way at the same time share one look-up; what was found is kept until `forgetPrepared`.
 * A look-up that found nothing or failed is made again for the next batch: the table or bucket may be there by then.
 */
export async function prepareOnce(ready: ReadyDestination, lookUp: () => Promise<unknown>): Promise<unknown> {
  const asked = (ready.prepared ??= lookUp())
  let found: unknown
  try {
    found = await asked
  } finally {
    if (found === undefined && ready.prepared === asked) ready.prepared = undefined
  }
  return found
}

/** The destination says that its configuration is wrong: whoever puts it right may do so over there, where we are not told. */
export function forgetPrepared(ready: ReadyDestination): void {
  ready.prepared = undefined
}

import { DESTINATION_DEFAULTS, type Destination, type SendRequest } from '../core/destination.ts'
import { createBlanking } from './blank-secrets.ts'
import type { ReadyDestination } from './lane.ts'
import type { Transport } from './transport.ts'

/** How a type sends its look-ups: the answers come without the destination's own secrets, as those of a delivery do. */
export function createLookUp(type: Destination, settings: unknown, transport: Transport, signal: AbortSignal): SendRequest {
  const blank = createBlanking(type, settings)
  const limitMs = type.limits.timeoutMs ?? DESTINATION_DEFAULTS.timeoutMs
  return async (request) => blank(await transport(request, request.timeoutMs ?? limitMs, signal))
}

/**
 * What a type looks up before it sends. Concurrent batches share one look-up, whose result is kept until `forgetPrepared`. A look-up that found
 * nothing or failed is repeated for the next batch: the table or bucket may exist by then.
 */
export async function prepareOnce(ready: ReadyDestination, lookUp: () => Promise<unknown>): Promise<unknown> {
  const pending = (ready.prepared ??= lookUp())
  let found: unknown
  try {
    found = await pending
  } finally {
    if (found === undefined && ready.prepared === pending) ready.prepared = undefined
  }
  return found
}

/** The destination reports a wrong configuration. It may be corrected on the platform's side, of which we are not told. */
export function forgetPrepared(ready: ReadyDestination): void {
  ready.prepared = undefined
}

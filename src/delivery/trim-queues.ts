import type { DestinationRecord, Outbox } from '../core/outbox.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'
import { errorLine } from '../lib/error-line.ts'

/** The bounds of one destination's queue. */
export const QUEUE_BOUNDS = { records: 1_000_000, bytes: 1_000_000_000 }

/**
 * Keeps queues within bounds if this process sends nothing, because those that would send and trim may not be running. A queue that fails does not
 * hold up the others.
 */
export async function trimQueues(
  outbox: Pick<Outbox, 'trim'>,
  destinations: readonly Pick<DestinationRecord, 'id' | 'type'>[],
  onEvent: NonNullable<DeliveryWorkerOptions['onEvent']>,
  bounds: typeof QUEUE_BOUNDS = QUEUE_BOUNDS,
): Promise<void> {
  for (const { id: destinationId, type } of destinations) {
    try {
      const { bodies, deliveries } = await outbox.trim(destinationId, bounds)
      if (bodies > 0 || deliveries > 0) onEvent({ kind: 'trimmed', destinationId, type, bodies, deliveries })
    } catch (error) {
      onEvent({ kind: 'problem', destinationId, message: errorLine(error) })
    }
  }
}

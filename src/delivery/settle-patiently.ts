import { isGatewayError } from '../core/error.ts'
import type { DeliveryCounts, Outbox, Settlement } from '../core/outbox.ts'
import { ceiling } from '../lib/backoff.ts'
import { sleep } from '../lib/sleep.ts'
import { errorLine } from '../lib/error-line.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

const BACKOFF = { baseMs: 100, maxMs: 2_000 }
/** About ten minutes. If the store is away for longer the lease expires, and the batch is sent again. */
const MAX_TRIES = 300

interface SettleParts extends Pick<DeliveryWorkerOptions, 'owner' | 'onEvent'> {
  readonly outbox: Pick<Outbox, 'settle'>
  /** The worker stops; what is not settled by then is left to the next one. */
  readonly signal: AbortSignal
}

/**
 * Settles a batch of one destination, however long the store is away: accepted records must not be sent again only because nobody could note it.
 * `settle` skips what another process has taken over. Rejects with the store's last error.
 */
export async function settlePatiently(
  { outbox, owner, onEvent, signal }: SettleParts,
  destinationId: string,
  settlements: readonly Settlement[],
  counts: DeliveryCounts,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await outbox.settle(owner, settlements, counts)
      return
    } catch (error) {
      if (signal.aborted || !isAway(error) || tries >= MAX_TRIES) throw error
      onEvent?.({ kind: 'problem', destinationId, message: errorLine(error) })
      // A stop in between causes one more try.
      await sleep(ceiling(tries, BACKOFF), signal).catch(() => undefined)
    }
  }
}

/** Data that a database refuses it will always refuse. */
const isAway = (error: unknown): boolean => !isGatewayError(error) || error.errorType === 'provider_overloaded'

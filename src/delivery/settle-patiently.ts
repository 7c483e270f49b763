import { isGatewayError } from '../core/error.ts'
import type { DeliveryCounts, Outbox, Settlement } from '../core/outbox.ts'
import { ceiling } from '../lib/backoff.ts'
import { sleep } from '../lib/sleep.ts'
import { said } from '../lib/said.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

const BACKOFF = { baseMs: 100, maxMs: 2_000 }
/** Some ten minutes. Whoever is away for longer is asked by the next batch, and this one goes out again. */
const MAX_TRIES = 300

interface SettleParts extends Pick<DeliveryWorkerOptions, 'owner' | 'onEvent'> {
  readonly outbox: Pick<Outbox, 'settle'>
  /** The worker stops: what is not settled by then is the next one's. */
  readonly signal: AbortSignal
}

/**
 * Settles a batch of one destination, however long the store is away: what was accepted must not go out again because nobody could note it.
 * What another process took over since is left to it: `settle` passes it over. Rejects with what the store said last.
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
      onEvent?.({ kind: 'problem', destinationId, message: said(error) })
      // A stop in between is one more try.
      await sleep(ceiling(tries, BACKOFF), signal).catch(() => undefined)
    }
  }
}

/** Data a database refuses it refuses for good. */
const isAway = (error: unknown): boolean => !isGatewayError(error) || error.errorType === 'provider_overloaded'

import { sql, type Transaction } from 'kysely'
import type { DeliveryCounts, Settlement } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database, Tables } from './database.ts'
import { numberList } from './id-list.ts'
import { dropUnseenContent, withContent } from './outbox-cleanup.ts'
import { inTransaction } from './transaction.ts'

const MAX_ERROR_CHARS = 1_000

type Trx = Transaction<Tables>
type Kept = Exclude<Settlement, { readonly state: 'delivered' }>

/** See `Outbox.settle`. */
export function createSettle({ db, engine }: Database, clock: Clock) {
  const deliver = async (trx: Trx, owner: string, ids: readonly number[]): Promise<readonly string[]> => {
    const deleted = await trx
      .deleteFrom('outbox_deliveries')
      .where('seq', 'in', numberList(engine, ids))
      .where('owner', '=', owner)
      .returning(['generation_id', 'destination_id', 'content_bytes'])
      .execute()
    await dropUnseenContent(trx, engine, withContent(deleted))
    return deleted.map((row) => row.destination_id)
  }

  /** One statement for all deliveries with the same outcome, so that a failed batch of any size takes one. */
  const keep = async (trx: Trx, owner: string, ids: readonly number[], outcome: Kept): Promise<number> => {
    const rows = await trx
      .updateTable('outbox_deliveries')
      .set({ owner: null, ...toColumns(outcome, clock.now()) })
      .where('seq', 'in', numberList(engine, ids))
      .where('owner', '=', owner)
      .returning('seq')
      .execute()
    return rows.length
  }

  return (owner: string, settlements: readonly Settlement[], counts: DeliveryCounts = {}): Promise<number> => {
    if (settlements.length === 0) return Promise.resolve(0)
    return inTransaction(db, async (trx) => {
      const destinationIds: string[] = []
      let updated = 0
      for (const [outcome, ids] of groupByOutcome(settlements)) {
        if (outcome.state === 'delivered') destinationIds.push(...(await deliver(trx, owner, ids)))
        else updated += await keep(trx, owner, ids, outcome)
      }
      const [destinationId] = destinationIds
      const { delivered, rejected } = atMost(destinationIds.length, counts)
      if (destinationId !== undefined && delivered + rejected > 0) await count(trx, destinationId, { delivered, rejected })
      return destinationIds.length + updated
    })
  }
}

/** If the lease had ended and another process delivered some, that process has counted them. */
function atMost(settled: number, { delivered = 0, rejected = 0 }: DeliveryCounts): Required<DeliveryCounts> {
  const taken = Math.min(delivered, settled)
  return { delivered: taken, rejected: Math.min(rejected, settled - taken) }
}

function toColumns(outcome: Kept, now: number) {
  switch (outcome.state) {
    case 'released':
      return outcome.at === undefined ? { due_at: sql<number>`entered_at` } : { due_at: outcome.at }
    case 'retry':
      return { due_at: outcome.at, attempts: sql<number>`attempts + 1`, last_status: outcome.status, last_error: clip(outcome.error) }
    case 'dead':
      return {
        due_at: null,
        died_at: now,
        attempts: sql<number>`attempts + 1`,
        reason: outcome.reason,
        last_status: outcome.status,
        last_error: clip(outcome.error),
      }
    default:
      return outcome satisfies never
  }
}

const clip = (text: string): string => text.replaceAll('\0', '').slice(0, MAX_ERROR_CHARS)

function groupByOutcome(settlements: readonly Settlement[]): readonly (readonly [Settlement, readonly number[]])[] {
  const groups = new Map<string, [Settlement, number[]]>()
  for (const settlement of settlements) {
    const { id, ...outcome } = settlement
    const key = JSON.stringify(outcome)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [settlement, [Number(id)]])
    else group[1].push(Number(id))
  }
  return [...groups.values()]
}

type Counts = Partial<Record<'delivered' | 'rejected' | 'dropped' | 'bodies_dropped', number>>

/** Adds to the figures that the destination's owner sees. */
export async function count(
  trx: Trx,
  destinationId: string,
  { delivered = 0, rejected = 0, dropped = 0, bodies_dropped = 0 }: Counts,
): Promise<void> {
  await trx
    .insertInto('outbox_counters')
    .values({ destination_id: destinationId, delivered, rejected, dropped, bodies_dropped, health: null })
    .onConflict((conflict) =>
      conflict.column('destination_id').doUpdateSet({
        delivered: sql`outbox_counters.delivered + excluded.delivered`,
        rejected: sql`outbox_counters.rejected + excluded.rejected`,
        dropped: sql`outbox_counters.dropped + excluded.dropped`,
        bodies_dropped: sql`outbox_counters.bodies_dropped + excluded.bodies_dropped`,
      }),
    )
    .execute()
}

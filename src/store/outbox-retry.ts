import { sql, type Transaction } from 'kysely'
import type { Engine, Tables } from './database.ts'

/**
 * See `Outbox.retryNow`. What was entered first is due first again, and due at once though the clock was set back since; a lease runs until its
 * own end. In PostgreSQL rows somebody else is working on are passed over instead of waited for: they are about to be leased, settled or
 * dropped.
 */
export async function retryDeliveries(trx: Transaction<Tables>, engine: Engine, destinationId: string, now: number): Promise<number> {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``
  const { numAffectedRows = 0n } = await sql`
    update outbox_deliveries set due_at = case when entered_at < ${now} then entered_at else ${now} end where seq in (
      select seq from outbox_deliveries where destination_id = ${destinationId} and due_at > ${now} and owner is null ${skipLocked}
    )`.execute(trx)
  return Number(numAffectedRows)
}

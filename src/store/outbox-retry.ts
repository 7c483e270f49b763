import { sql, type Transaction } from 'kysely'
import type { Engine, Tables } from './database.ts'

/** Longer than any pause; platforms may ask for an hour. */
const LONGEST_PAUSE_MS = 2 * 3_600_000
/** Longer than any lease; holders renew theirs well before its end. */
const LONGEST_LEASE_MS = 60_000
/** Clocks of different machines differ by less. */
const CLOCKS_DIFFER_MS = 10_000

/**
 * See `Outbox.retryNow`. Deliveries become due in the order they were entered, and at once even if the clock was set back since; the time of entry
 * moves with the clock, because batches wait by it to fill up. Leased deliveries are left until the lease ends. In PostgreSQL rows that somebody else
 * has locked are skipped: they are about to be leased, settled or dropped.
 */
export async function retryDeliveries(trx: Transaction<Tables>, engine: Engine, destinationId: string, now: number): Promise<number> {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``
  const { numAffectedRows = 0n } = await sql`
    update outbox_deliveries set ${dueBy(now)} where seq in (
      select seq from outbox_deliveries where destination_id = ${destinationId} and due_at > ${now} and owner is null ${skipLocked}
    )`.execute(trx)
  return Number(numAffectedRows)
}

/**
 * Repairs deliveries that are due too far ahead because the clock was set back: entered in what is now the future, or waiting longer than anything
 * waits. Returns how many it made due, at most `limit`.
 */
export async function retryFarAhead(trx: Transaction<Tables>, engine: Engine, destinationId: string, now: number, limit: number): Promise<number> {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``
  const soon = now + CLOCKS_DIFFER_MS
  const { numAffectedRows = 0n } = await sql`
    update outbox_deliveries set ${dueBy(now)} where seq in (
      select seq from outbox_deliveries
      where destination_id = ${destinationId} and due_at > ${soon} and owner is null and (entered_at > ${soon} or due_at > ${now + LONGEST_PAUSE_MS})
      limit ${limit} ${skipLocked}
    )`.execute(trx)
  return Number(numAffectedRows)
}

/**
 * Shortens leases that end later than any lease can, because they were taken by a clock that ran ahead. A holder that lives renews them; those of one
 * that is gone now end in time. Returns how many it shortened, at most `limit`.
 */
export async function shortenLeases(trx: Transaction<Tables>, engine: Engine, destinationId: string, now: number, limit: number): Promise<number> {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``
  const { numAffectedRows = 0n } = await sql`
    update outbox_deliveries set due_at = ${now + LONGEST_LEASE_MS} where seq in (
      select seq from outbox_deliveries
      where destination_id = ${destinationId} and due_at > ${now + LONGEST_LEASE_MS + CLOCKS_DIFFER_MS} and owner is not null
      limit ${limit} ${skipLocked}
    )`.execute(trx)
  return Number(numAffectedRows)
}

/** In both databases the right sides refer to the old values. */
const dueBy = (now: number) => {
  const entered = sql`case when entered_at < ${now} then entered_at else ${now} end`
  return sql`due_at = ${entered}, entered_at = ${entered}`
}

import { sql, type Transaction } from 'kysely'
import type { Engine, Tables } from './database.ts'

/** Longer than any pause: platforms may ask for an hour. */
const LONGEST_PAUSE_MS = 2 * 3_600_000
/** Longer than any lease, which its holder renews at a fraction of it. */
const LONGEST_LEASE_MS = 60_000
/** Clocks of several machines differ by less. */
const CLOCKS_DIFFER_MS = 10_000

/**
 * See `Outbox.retryNow`. What was entered first is due first again, and due at once though the clock was set back since: the moment it was
 * entered follows the clock, as batches wait by it to be full. A lease runs until its own end. In PostgreSQL rows somebody else is working on are passed over instead of waited for: they are about to be leased, settled or
 * dropped.
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
 * What a clock that was set back since has put so far ahead that nobody would try it until that time comes again: entered in what is the future
 * now, or waiting for longer than anything waits. Returns how many it made due, at most `limit`.
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
 * Leases that end further ahead than any does were taken by a clock that ran ahead. Their holder may live, and renews them then; of one that
 * is gone they end after the time of a lease from now. Returns how many it shortened, at most `limit`.
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

/** In both databases the right sides are the values from before. */
const dueBy = (now: number) => {
  const entered = sql`case when entered_at < ${now} then entered_at else ${now} end`
  return sql`due_at = ${entered}, entered_at = ${entered}`
}

import { sql, type Transaction } from 'kysely'
import type { Clock } from '../lib/clock.ts'
import type { Database, Db, Engine, Tables } from './database.ts'
import { numberList } from './id-list.ts'
import { dropUnseenContent } from './outbox-cleanup.ts'
import { count } from './outbox-settle.ts'
import { inTransaction } from './transaction.ts'

/** Rows dropped in one transaction, which holds the write lock. */
const STEP = 2_000
/** Dead letters kept per destination; the oldest go first. */
const MAX_DEAD_LETTERS = 100_000

type Trx = Transaction<Tables>

interface Bounds {
  readonly records: number
  readonly bytes: number
}

/** See `Outbox.trim`. What is leased is left alone. */
export function createTrim({ db, engine }: Database, clock: Clock) {
  const size = async (destinationId: string): Promise<Bounds> => {
    const { rows } = await sql<Bounds>`
      select count(*) as records, cast(coalesce(sum(bytes), 0) as bigint) as bytes
      from outbox_deliveries where destination_id = ${destinationId} and due_at is not null`.execute(db)
    return rows[0] ?? { records: 0, bytes: 0 }
  }

  const dropBodies = async (trx: Trx, destinationId: string, excess: number): Promise<readonly number[]> => {
    const { rows } = await sql<{ seq: number; content_bytes: number; generation_id: string }>`
      select seq, content_bytes, generation_id from outbox_deliveries
      where destination_id = ${destinationId} and due_at is not null and owner is null and content_bytes > 0
      order by due_at, seq limit ${STEP}`.execute(trx)
    let freed = 0
    const chosen = rows.filter((row) => {
      if (freed >= excess) return false
      freed += row.content_bytes
      return true
    })
    if (chosen.length === 0) return []
    await trx
      .updateTable('outbox_deliveries')
      .set({ bytes: sql`bytes - content_bytes`, content_bytes: 0 })
      .where(
        'seq',
        'in',
        numberList(
          engine,
          chosen.map((row) => row.seq),
        ),
      )
      .execute()
    await dropUnseenContent(
      trx,
      engine,
      chosen.map((row) => row.generation_id),
    )
    await count(trx, destinationId, { bodies_dropped: chosen.length })
    return chosen.map((row) => row.content_bytes)
  }

  const dropDeliveries = async (trx: Trx, destinationId: string, limit: number): Promise<readonly number[]> => {
    const { rows } = await sql<{ seq: number; bytes: number; content_bytes: number; generation_id: string }>`
      select seq, bytes, content_bytes, generation_id from outbox_deliveries
      where destination_id = ${destinationId} and due_at is not null and owner is null
      order by due_at, seq limit ${Math.min(limit, STEP)}`.execute(trx)
    if (rows.length === 0) return []
    const ids = rows.map((row) => row.seq)
    await trx
      .updateTable('outbox_deliveries')
      .set({
        due_at: null,
        died_at: clock.now(),
        reason: 'overflow',
        last_error: 'the queue was full',
        last_status: 0,
        bytes: sql`bytes - content_bytes`,
        content_bytes: 0,
      })
      .where('seq', 'in', numberList(engine, ids))
      .execute()
    await dropUnseenContent(
      trx,
      engine,
      rows.map((row) => row.generation_id),
    )
    await count(trx, destinationId, { dropped: rows.length })
    return rows.map((row) => row.bytes)
  }

  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

  return async (destinationId: string, bounds: Bounds): Promise<{ readonly bodies: number; readonly deliveries: number }> => {
    let { records, bytes } = await size(destinationId)
    let bodies = 0
    let deliveries = 0
    while (bytes > bounds.bytes) {
      const freed = await inTransaction(db, (trx) => dropBodies(trx, destinationId, bytes - bounds.bytes))
      if (freed.length === 0) break
      bodies += freed.length
      bytes -= sum(freed)
    }
    // When bodies alone were not enough, rows go until their own bytes fit.
    while (records > bounds.records || bytes > bounds.bytes) {
      const wanted = records > bounds.records ? records - bounds.records : Math.max(1, Math.ceil(((bytes - bounds.bytes) / bytes) * records))
      const dropped = await inTransaction(db, (trx) => dropDeliveries(trx, destinationId, wanted))
      if (dropped.length === 0) break
      deliveries += dropped.length
      records -= dropped.length
      bytes -= sum(dropped)
    }
    if (deliveries > 0) await forgetOldest(db, engine, destinationId)
    return { bodies, deliveries }
  }
}

function forgetOldest(db: Db, engine: Engine, destinationId: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ seq: number; generation_id: string }>`
      select seq, generation_id from outbox_deliveries where destination_id = ${destinationId} and died_at is not null
      order by died_at desc, seq desc limit ${STEP} offset ${MAX_DEAD_LETTERS}`.execute(trx)
    if (rows.length === 0) return
    const ids = numberList(
      engine,
      rows.map((row) => row.seq),
    )
    await trx.deleteFrom('outbox_deliveries').where('seq', 'in', ids).execute()
    await dropUnseenContent(
      trx,
      engine,
      rows.map((row) => row.generation_id),
    )
  })
}

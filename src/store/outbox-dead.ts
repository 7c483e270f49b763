import { sql } from 'kysely'
import { newestHealth } from '../core/newest-health.ts'
import type { DeadLetter, DeadReason, DeliveryHealth, DurableOutbox } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database, Db } from './database.ts'
import { numberList } from './id-list.ts'
import { dropUnseenContent, withContent } from './outbox-cleanup.ts'
import { allInSteps } from './outbox-steps.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/** The owner's view of a queue and of its dead letters. */
export function createDeadLetters(database: Database, clock: Clock): Pick<DurableOutbox, 'report' | 'status' | 'deadLetters' | 'replay' | 'purge'> {
  const { db, engine } = database
  const deadOnes = (destinationId: string, ids: readonly string[] | undefined) => {
    const dead = db.selectFrom('outbox_deliveries').select('seq').where('destination_id', '=', destinationId).where('died_at', 'is not', null)
    return ids === undefined ? dead : dead.where('seq', 'in', numberList(engine, toNumbers(ids)))
  }
  return {
    report: createReport(database, clock),
    status: (destinationId) =>
      guarded(async () => {
        const queue = await sql<{ records: number; bytes: number; oldest_at: number | null }>`
          select count(*) as records, cast(coalesce(sum(bytes), 0) as bigint) as bytes, min(entered_at) as oldest_at
          from outbox_deliveries where destination_id = ${destinationId} and due_at is not null`.execute(db)
        const { dead } = await db
          .selectFrom('outbox_deliveries')
          .select(({ fn }) => fn.countAll<number>().as('dead'))
          .where('destination_id', '=', destinationId)
          .where('died_at', 'is not', null)
          .executeTakeFirstOrThrow()
        const counters = await readCounters(db, destinationId).executeTakeFirst()
        const row = queue.rows[0]
        return {
          queued: row?.records ?? 0,
          queuedBytes: row?.bytes ?? 0,
          oldestAt: row?.oldest_at ?? undefined,
          delivered: counters?.delivered ?? 0,
          rejected: counters?.rejected ?? 0,
          dropped: counters?.dropped ?? 0,
          bodiesDropped: counters?.bodies_dropped ?? 0,
          dead,
          health: toHealth(counters?.health),
        }
      }),
    deadLetters: (destinationId, { offset, limit }) =>
      guarded(async () => {
        const dead = db.selectFrom('outbox_deliveries').where('destination_id', '=', destinationId).where('died_at', 'is not', null)
        const { total } = await dead.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
        const rows = await dead.selectAll().orderBy('died_at').orderBy('seq').limit(limit).offset(offset).execute()
        return {
          total,
          letters: rows.map((row): DeadLetter => ({
            id: String(row.seq),
            destinationId,
            generationId: row.generation_id,
            reason: row.reason as DeadReason,
            status: row.last_status ?? 0,
            error: row.last_error ?? '',
            attempts: row.attempts,
            enteredAt: row.entered_at,
            diedAt: row.died_at ?? 0,
          })),
        }
      }),
    // Deliveries that die again during the replay have died later and are left alone. The latest time of death is the boundary, because the clock may
    // have been set back since, or belong to another machine. They become due in the order they died: with one due time for all, every lease would
    // sort a hundred thousand rows.
    replay: async (destinationId, now, ids) => {
      let replayed = 0
      const { last } = await guarded(() =>
        db
          .selectFrom('outbox_deliveries')
          .select(({ fn }) => fn.max('died_at').as('last'))
          .where('destination_id', '=', destinationId)
          .where('died_at', 'is not', null)
          .executeTakeFirstOrThrow(),
      )
      await allInSteps(db, deadOnes(destinationId, ids).where('died_at', '<=', Math.max(now, last ?? now)), async (trx, seqs) => {
        const { numUpdatedRows } = await trx
          .updateTable('outbox_deliveries')
          .set({ due_at: sql`case when died_at < ${now} then died_at else ${now} end`, entered_at: now, died_at: null, reason: null, attempts: 0 })
          .where('seq', 'in', numberList(engine, seqs))
          .where('died_at', 'is not', null)
          .executeTakeFirstOrThrow()
        replayed += Number(numUpdatedRows)
      })
      return replayed
    },
    purge: async (destinationId, ids) => {
      let purged = 0
      await allInSteps(db, deadOnes(destinationId, ids), async (trx, seqs) => {
        const deleted = await trx
          .deleteFrom('outbox_deliveries')
          .where('seq', 'in', numberList(engine, seqs))
          .where('died_at', 'is not', null)
          .returning(['generation_id', 'content_bytes'])
          .execute()
        await dropUnseenContent(trx, engine, withContent(deleted))
        purged += deleted.length
      })
      return purged
    },
  }
}

/** See `Outbox.report`. */
function createReport({ db, engine }: Database, clock: Clock): DurableOutbox['report'] {
  return (destinationId, health) =>
    inTransaction(db, async (trx) => {
      // Made before it is read, and locked, because two workers report at the same time.
      await trx
        .insertInto('outbox_counters')
        .values({ destination_id: destinationId, delivered: 0, rejected: 0, dropped: 0, bodies_dropped: 0 })
        .onConflict((conflict) => conflict.column('destination_id').doNothing())
        .execute()
      const counters = readCounters(trx, destinationId)
      const before = await (engine === 'postgres' ? counters.forUpdate() : counters).executeTakeFirst()
      const text = JSON.stringify(newestHealth(toHealth(before?.health), health, clock.now()))
      await trx.updateTable('outbox_counters').set({ health: text }).where('destination_id', '=', destinationId).execute()
    })
}

const readCounters = (db: Db, destinationId: string) => db.selectFrom('outbox_counters').selectAll().where('destination_id', '=', destinationId)

const toHealth = (text: string | null | undefined): DeliveryHealth | undefined => (text == null ? undefined : (JSON.parse(text) as DeliveryHealth))

/** Ids come from people; a malformed one matches nothing. */
const toNumbers = (ids: readonly string[]): readonly number[] => ids.filter((id) => /^\d{1,15}$/.test(id)).map(Number)

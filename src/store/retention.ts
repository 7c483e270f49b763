import { sql, type Transaction } from 'kysely'
import type { Expired, Retained, RetentionStore } from '../core/retention.ts'
import type { Database, Engine, Tables } from './database.ts'
import { textList } from './id-list.ts'
import { inTransaction } from './transaction.ts'

type Trx = Transaction<Tables>
type Expire = (trx: Trx, before: number, limit: number) => Promise<Expired>

/** Eight megabytes at most are given back to the disk with each batch; the next takes the rest. */
const VACUUM_PAGES = 1_000
/** Who holds the lock does nothing else over that connection. Longer than a round, which ends itself; a process that stands still holds it no longer. */
const LONGEST_ROUND_MS = 20 * 60_000

/** See `RetentionStore`. Batches of deletes rather than partitions: docs/decisions/0091. */
export function createRetentionStore(database: Database): RetentionStore {
  const { db, engine } = database
  const expire: { readonly [What in Retained]: Expire } = {
    generations: createGenerationExpiry(engine),
    content: createContentExpiry(),
    activity: expireActivity,
    spend: expireSpend,
    deleted_destinations: expireDestinations,
    answers: expireAnswers,
  }
  return {
    expire: (what, before, limit) =>
      inTransaction(db, async (trx) => {
        const expired = await expire[what](trx, before, limit)
        if (expired.deleted > 0) await giveSpaceBack(trx, engine)
        return expired
      }),
    exclusively: async (work) => {
      if (engine === 'sqlite') {
        await work()
        return true
      }
      // A lock of a transaction: of a session behind a pooler nobody would know where to let go of it. It ends with its connection, so that of a process that dies does.
      const maintenance = database.forMaintenance()
      let done = false
      try {
        await inTransaction(maintenance.db, async (trx) => {
          await sql`set local idle_in_transaction_session_timeout = ${sql.lit(LONGEST_ROUND_MS)}`.execute(trx)
          const { rows } = await sql<{ mine: boolean }>`
            select pg_try_advisory_xact_lock(hashtextextended('signalbox.retention.' || current_schema(), 0)) as mine`.execute(trx)
          if (rows[0]?.mine !== true) return
          await work()
          done = true
        })
      } catch (error) {
        // What is lost with the connection after the work is only the lock.
        if (!done) throw error
      } finally {
        await maintenance.close()
      }
      return done
    },
  }
}

/** Deleting only marks pages as free; this gives them back to the disk. PostgreSQL's autovacuum needs no such help. */
async function giveSpaceBack(trx: Trx, engine: Engine): Promise<void> {
  if (engine === 'sqlite') await sql`pragma incremental_vacuum(${sql.lit(VACUUM_PAGES)})`.execute(trx)
}

const rowsOf = ({ numAffectedRows }: { readonly numAffectedRows?: bigint | undefined }): number => Number(numAffectedRows ?? 0n)

/**
 * What is still on its way to a destination, or may be replayed, is read from here and stays. Content goes with its record. Records that stay
 * are passed once a round: they may be as many as queues are long, and to look through all of them for each batch held the lock for seconds.
 */
function createGenerationExpiry(engine: Engine): Expire {
  const beginning = { created_at: -1, id: '' }
  let passed = beginning
  return async (trx, before, limit) => {
    const { created_at: time, id } = passed
    const { rows } = await sql<typeof beginning>`
      select created_at, id from generations
      where created_at >= ${time} and created_at < ${before} and (created_at > ${time} or id > ${id})
      order by created_at, id limit ${limit}`.execute(trx)
    const more = rows.length === limit
    passed = more ? rows.at(-1)! : beginning
    const ids = textList(
      engine,
      rows.map((row) => row.id),
    )
    const gone = await sql`
      delete from generations where id in ${ids}
        and not exists (select 1 from outbox_deliveries d where d.generation_id = generations.id)`.execute(trx)
    return { deleted: rowsOf(gone), more }
  }
}

/** Records may come this much later than they began and lose their content with the next round. */
const LATE_MS = 6 * 3_600_000
/** All records are passed again after this long: for those that came later still, after an outage of any length. */
const FULL_ROUND_MS = 24 * 3_600_000

/**
 * Content of records that stay. Records are passed in the order of their age. What is older than the last that was passed has no content any
 * more, unless it was recorded later: each round begins some hours before the end of the last, and one a day at the beginning.
 */
function createContentExpiry(): Expire {
  let passed = -1
  let newest = -1
  let finished = false
  let fullRoundAt = -Infinity
  return async (trx, before, limit) => {
    if (finished) {
      // A clock that ran ahead and was put right would have nothing expire until it is there again.
      const full = before < fullRoundAt || before - fullRoundAt >= FULL_ROUND_MS
      if (full) {
        fullRoundAt = before
        newest = -1
      }
      passed = full ? -1 : newest - LATE_MS
      finished = false
    } else if (passed === -1) fullRoundAt = before
    const { rows } = await sql<{ last: number | null; found: number }>`
      select max(created_at) as last, count(*) as found from (
        select created_at from generations where created_at > ${passed} and created_at < ${before} order by created_at limit ${limit}
      ) as oldest`.execute(trx)
    const last = rows[0]?.last
    const more = Number(rows[0]?.found) === limit
    finished = !more
    if (last === undefined || last === null) return { deleted: 0, more: false }
    const gone = await sql`
      delete from generation_content where id in (select id from generations where created_at > ${passed} and created_at <= ${last})`.execute(trx)
    passed = last
    newest = Math.max(newest, last)
    return { deleted: rowsOf(gone), more }
  }
}

/** A day at a time: its rows are as many as there are keys and endpoints. */
async function expireActivity(trx: Trx, before: number): Promise<Expired> {
  const gone = await sql`delete from activity where day = (select min(day) from activity) and day < ${before}`.execute(trx)
  return { deleted: rowsOf(gone), more: rowsOf(gone) > 0 }
}

/** Periods that have ended are read by nobody; `lifetime` never ends. */
async function expireSpend(trx: Trx, before: number, limit: number): Promise<Expired> {
  const key = sql.raw('subject, interval, period_start')
  const gone = await sql`
    delete from spend where (${key}) in
      (select ${key} from spend where interval <> 'lifetime' and period_start < ${before} limit ${limit})`.execute(trx)
  return { deleted: rowsOf(gone), more: rowsOf(gone) === limit }
}

/** What is left of a deleted destination once nothing of its queue is, and figures somebody wrote after its end. */
async function expireDestinations(trx: Trx, before: number, limit: number): Promise<Expired> {
  const gone = await sql`
    delete from destinations where id in (
      select id from destinations where deleted_at < ${before}
        and not exists (select 1 from outbox_deliveries d where d.destination_id = destinations.id) limit ${limit})`.execute(trx)
  await sql`
    delete from outbox_counters where not exists (
      select 1 from destinations d where d.id = outbox_counters.destination_id and d.deleted_at is null)`.execute(trx)
  return { deleted: rowsOf(gone), more: rowsOf(gone) === limit }
}

async function expireAnswers(trx: Trx, before: number, limit: number): Promise<Expired> {
  const gone = await sql`
    delete from kept_answers where key in (
      select key from kept_answers where expires_at <= ${before} order by expires_at limit ${limit})`.execute(trx)
  return { deleted: rowsOf(gone), more: rowsOf(gone) === limit }
}

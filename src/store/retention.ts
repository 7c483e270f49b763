import { sql, type Transaction } from 'kysely'
import type { Expired, Retained, RetentionStore } from '../core/retention.ts'
import type { Database, Engine, Tables } from './database.ts'
import { textList } from './id-list.ts'
import { inTransaction } from './transaction.ts'

type Trx = Transaction<Tables>
type Expire = (trx: Trx, before: number, limit: number) => Promise<Expired>

/** Each batch gives at most eight megabytes back to the disk; the next takes the rest. */
const VACUUM_PAGES = 1_000
/** The lock's connection is idle during a round. This is longer than a round may take; a process that hangs loses the lock after it. */
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
      // A transaction lock, because a session lock cannot be released behind a pooler. It ends with its connection, and so with a process that dies.
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
        // After the work, a broken connection loses only the lock.
        if (!done) throw error
      } finally {
        await maintenance.close()
      }
      return done
    },
  }
}

/** Deleted rows only leave free pages; this gives them back to the disk. In PostgreSQL autovacuum does it. */
async function giveSpaceBack(trx: Trx, engine: Engine): Promise<void> {
  if (engine === 'sqlite') await sql`pragma incremental_vacuum(${sql.lit(VACUUM_PAGES)})`.execute(trx)
}

const rowsOf = ({ numAffectedRows }: { readonly numAffectedRows?: bigint | undefined }): number => Number(numAffectedRows ?? 0n)

/**
 * Records whose deliveries are pending or may be replayed are still needed and stay. Content goes with its record. Each round passes kept records
 * once: there may be as many as the queues are long, and checking all of them for every batch held the lock for seconds.
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
    const deleted = await sql`
      delete from generations where id in ${ids}
        and not exists (select 1 from outbox_deliveries d where d.generation_id = generations.id)`.execute(trx)
    return { deleted: rowsOf(deleted), more }
  }
}

/** A record may be stored this much later than its call began and still lose its content in the next round. */
const LATE_MS = 6 * 3_600_000
/** How often all records are passed again, for those that were stored later still, after an outage of any length. */
const FULL_ROUND_MS = 24 * 3_600_000

/**
 * Removes the content of records that stay, in the order of their age. Older records than the last one passed have no content any more, unless they
 * were stored late: each round starts some hours before the end of the last, and once a day at the beginning.
 */
function createContentExpiry(): Expire {
  let passed = -1
  let newest = -1
  let finished = false
  let fullRoundAt = -Infinity
  return async (trx, before, limit) => {
    if (finished) {
      // If a clock ran ahead and was corrected, nothing would expire until it is there again.
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
    const deleted = await sql`
      delete from generation_content where id in (select id from generations where created_at > ${passed} and created_at <= ${last})`.execute(trx)
    passed = last
    newest = Math.max(newest, last)
    return { deleted: rowsOf(deleted), more }
  }
}

/** One day at a time, whose rows are as many as there are keys and endpoints. */
async function expireActivity(trx: Trx, before: number): Promise<Expired> {
  const deleted = await sql`delete from activity where day = (select min(day) from activity) and day < ${before}`.execute(trx)
  return { deleted: rowsOf(deleted), more: rowsOf(deleted) > 0 }
}

/** Periods that have ended are read by nobody; `lifetime` never ends. */
async function expireSpend(trx: Trx, before: number, limit: number): Promise<Expired> {
  const key = sql.raw('subject, interval, period_start')
  const deleted = await sql`
    delete from spend where (${key}) in
      (select ${key} from spend where interval <> 'lifetime' and period_start < ${before} limit ${limit})`.execute(trx)
  return { deleted: rowsOf(deleted), more: rowsOf(deleted) === limit }
}

/** Deleted destinations whose queue is empty, and counters that were written after the end of their destination. */
async function expireDestinations(trx: Trx, before: number, limit: number): Promise<Expired> {
  const deleted = await sql`
    delete from destinations where id in (
      select id from destinations where deleted_at < ${before}
        and not exists (select 1 from outbox_deliveries d where d.destination_id = destinations.id) limit ${limit})`.execute(trx)
  await sql`
    delete from outbox_counters where not exists (
      select 1 from destinations d where d.id = outbox_counters.destination_id and d.deleted_at is null)`.execute(trx)
  return { deleted: rowsOf(deleted), more: rowsOf(deleted) === limit }
}

async function expireAnswers(trx: Trx, before: number, limit: number): Promise<Expired> {
  const deleted = await sql`
    delete from kept_answers where key in (
      select key from kept_answers where expires_at <= ${before} order by expires_at limit ${limit})`.execute(trx)
  return { deleted: rowsOf(deleted), more: rowsOf(deleted) === limit }
}

import { sql, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import type { DatabaseClock } from './database-clock.ts'
import { QUICK } from './postgres-dialect.ts'
import { CHANNEL } from './postgres-listen.ts'
import { guarded } from './store-error.ts'
import { inTransaction, isPostgres } from './transaction.ts'

/** Whoever follows the version reads these; a dump has most of them behind the version. */
const FOLLOWED = [
  'api_keys',
  'workspaces',
  'destinations',
  'guardrails',
  'guardrail_keys',
  'own_keys',
  'presets',
  'preset_versions',
] satisfies (keyof Tables)[]
/** A dump is restored table by table, each visible as soon as it is filled, and the keys of all tables come behind their rows. */
const IS_FILLED = sql`not exists (
  select from pg_class where relnamespace = current_schema()::regnamespace and relname in (${sql.join(FOLLOWED.map((name) => sql.lit(name)))}) and not relhasindex)`

const TIME = sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`

interface VersionRow {
  readonly version: number
  readonly filled: unknown
  readonly time: number | null
}

/**
 * A write of configuration: the work and one more on the version in one transaction, so that no snapshot can miss it. One at a time, as
 * SQLite has them anyway. PostgreSQL tells who listens when it is committed.
 * Work that returns undefined or false changed nothing and moves no version.
 */
export function changeConfiguration<T>(db: Db, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  return inTransaction(db, async (trx) => {
    // Held from the beginning: of two that change several things, one would have what the other waits for, and each the other way round.
    if (isPostgres(trx)) await sql`select version from config_version for update`.execute(trx)
    const result = await work(trx)
    if (result === undefined || result === false) return result
    await trx
      .updateTable('config_version')
      .set({ version: sql`version + 1` })
      .execute()
    if (isPostgres(trx)) await sql`select pg_notify(${CHANNEL}, current_schema())`.execute(trx)
    return result
  })
}

/** Of all configuration in the store; grows by one with each change. Who looks also learns what time the database has. */
export function readVersion(db: Db, clock: Pick<DatabaseClock, 'monotonic' | 'note'>): Promise<number> {
  return guarded(async () => {
    const [filled, time] = isPostgres(db) ? [IS_FILLED, TIME] : [sql`true`, sql`null`]
    const query = sql<VersionRow>`${sql.raw(QUICK)} select version, ${filled} as filled, ${time} as time from config_version`
    const askedAt = clock.monotonic()
    const { rows } = await query.execute(db)
    const [row] = rows
    if (typeof row?.time === 'number') clock.note(row.time, clock.monotonic() - askedAt)
    if (row === undefined) throw new Error('the version of the configuration is gone')
    // Read now, it would be taken for an installation without guardrails, destinations and keys, and nothing would tell of them once they are there.
    if (!row.filled) throw new Error('the database is being restored')
    return row.version
  })
}

/** Looks at the version again and again. A look that fails is made good by the next. */
export function watchVersion(version: () => Promise<number>, onChange: () => void, everyMs: number): { close(): Promise<void> } {
  let known: number | undefined
  let looking: Promise<void> | undefined
  const look = async (): Promise<void> => {
    try {
      const current = await version()
      if (known !== undefined && current !== known) onChange()
      known = current
    } catch {
      // Away, or closing.
    }
  }
  const timer = setInterval(() => {
    looking ??= look().finally(() => (looking = undefined))
  }, everyMs)
  timer.unref()
  return {
    close: async () => {
      clearInterval(timer)
      await looking
    },
  }
}

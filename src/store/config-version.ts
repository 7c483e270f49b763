import { sql, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import type { DatabaseClock } from './database-clock.ts'
import { noteKeyChanges } from './key-changes.ts'
import { QUICK } from './postgres-dialect.ts'
import { CHANNEL } from './postgres-listen.ts'
import { guarded } from './store-error.ts'
import { inTransaction, isPostgres } from './transaction.ts'

/** The tables whose readers follow the version. A dump contains most of them after the version itself. */
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
/** A dump is restored table by table. Each table is visible as soon as it is filled, and all primary keys are created after the rows. */
const IS_FILLED = sql`not exists (
  select from pg_class where relnamespace = current_schema()::regnamespace and relname in (${sql.join(FOLLOWED.map((name) => sql.lit(name)))}) and not relhasindex)`

const TIME = sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`

interface VersionRow {
  readonly version: number
  readonly filled: unknown
  readonly time: number | null
}

/**
 * Changes configuration: does the work and increments the version in one transaction, so that no snapshot can miss the change. One at a time, as
 * SQLite requires anyway. PostgreSQL notifies listeners on commit. Work that returns undefined or false has changed nothing and does not move the
 * version. `keys`: hashes of the keys that it changes or removes.
 */
export function changeConfiguration<T>(db: Db, work: (trx: Transaction<Tables>) => Promise<T>, keys: readonly string[] | 'unknown' = []): Promise<T> {
  return inTransaction(db, async (trx) => {
    // Locked from the beginning: two transactions that change several tables could otherwise wait for each other.
    if (isPostgres(trx)) await sql`select version from config_version for update`.execute(trx)
    const result = await work(trx)
    if (result === undefined || result === false) return result
    const { version } = await trx
      .updateTable('config_version')
      .set({ version: sql`version + 1` })
      .returning('version')
      .executeTakeFirstOrThrow()
    await noteKeyChanges(trx, version, keys)
    if (isPostgres(trx)) await sql`select pg_notify(${CHANNEL}, current_schema())`.execute(trx)
    return result
  })
}

/** The version of all configuration in the store, which grows with each change. Reading it also tells the database's time. */
export function readVersion(db: Db, clock: Pick<DatabaseClock, 'monotonic' | 'note'>): Promise<number> {
  return guarded(async () => {
    const [filled, time] = isPostgres(db) ? [IS_FILLED, TIME] : [sql`true`, sql`null`]
    const query = sql<VersionRow>`${sql.raw(QUICK)} select version, ${filled} as filled, ${time} as time from config_version`
    const askedAt = clock.monotonic()
    const { rows } = await query.execute(db)
    const [row] = rows
    if (typeof row?.time === 'number') clock.note(row.time, clock.monotonic() - askedAt)
    if (row === undefined) throw new Error('the version of the configuration is gone')
    // A half-restored database would be read as an installation without guardrails, destinations and keys, and no change would announce them later.
    if (!row.filled) throw new Error('the database is being restored')
    return row.version
  })
}

/** Reads the version regularly. A failed read is made up for by the next. */
export function watchVersion(version: () => Promise<number>, onChange: () => void, everyMs: number): { close(): Promise<void> } {
  let known: number | undefined
  let looking: Promise<void> | undefined
  const look = async (): Promise<void> => {
    try {
      const current = await version()
      if (known !== undefined && current !== known) onChange()
      known = current
    } catch {
      // The database is away, or closing.
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

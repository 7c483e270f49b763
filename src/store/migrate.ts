import { sql, type Transaction } from 'kysely'
import { GatewayError } from '../core/error.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database, Db, Engine, Tables } from './database.ts'
import { encodingFault } from './encoding.ts'
import { COLUMN_TYPES } from './migrations/column-types.ts'
import type { Migration } from './migrations/migration.ts'

/** How long to wait for another process that migrates; nobody waits behind us during that time. */
const TURN_LIMIT = '5s'
/** How long to wait for a table lock: everybody who wants to read or write the table waits behind us. */
const TABLE_LIMIT = '2s'
/** A longer migration is reported, because nothing is served before it is done. */
const SLOW_MS = 2_000
/** lock_not_available. */
const NO_LOCK = '55P03'
/** insufficient_privilege. */
const NO_RIGHTS = '42501'

/** Names of migrations that this database has not seen. It may have seen others, of a newer version. */
export async function pendingMigrations(db: Db, engine: Engine, migrations: readonly Migration[]): Promise<readonly string[]> {
  const applied = new Set(await appliedMigrations(db, engine))
  return migrations.map(({ name }) => name).filter((name) => !applied.has(name))
}

/**
 * A sentence for the operator about a database that a newer version has migrated, with the migrations that are unknown here; undefined if there are
 * none. It is no fault: migrations only add, so that a newer version can be taken back.
 */
export async function newerSchema(db: Db, engine: Engine, migrations: readonly Migration[]): Promise<string | undefined> {
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = (await appliedMigrations(db, engine)).filter((name) => !known.has(name))
  if (unknown.length === 0) return undefined
  return (
    `The database was migrated by a newer version of Signalbox (${unknown.join(', ')}): the version right before that one works with it, and ` +
    'nothing is changed back; a still older one may fail'
  )
}

async function appliedMigrations(db: Db, engine: Engine): Promise<readonly string[]> {
  if (!(await hasMigrationsTable(db, engine))) return []
  return (await db.selectFrom('migrations').select('name').orderBy('name').execute()).map(({ name }) => name)
}

/**
 * Applies pending migrations, each in a transaction that holds a lock shared by all processes: the second process waits, looks again and finds
 * nothing to do. The first start of an SQLite database has one transaction for all of them, which writes each page once: half as much. Returns the names it applied. Throws GatewayError `invalid_request` for an empty database whose encoding would lose records; an
 * existing installation keeps working.
 *
 * PostgreSQL: a lock that somebody holds for long (a backup, a query of hours, another migration) is reported like a database that is away. The start
 * then serves with what it knows and tries again. Otherwise it would wait silently, and everybody who uses the table would wait behind it.
 * `onSlow` is called with the migration that is being applied, or waited for, if that takes long. SQLite: with each beforehand, except at a first start.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  clock: Clock,
  onSlow: (name: string) => void = () => undefined,
): Promise<readonly string[]> {
  // Without this check every start would wait for the lock, although usually nothing is pending.
  const pending = await pendingMigrations(database.db, database.engine, migrations)
  if (pending.length === 0) return []
  const isFirst = !(await hasMigrationsTable(database.db, database.engine))
  if (isFirst) {
    const fault = await encodingFault(database.db, database.engine)
    if (fault !== undefined) throw new GatewayError('invalid_request', fault)
  }
  const maintenance = database.forMaintenance()
  const applied: string[] = []
  type Work = (trx: Transaction<Tables>) => Promise<boolean>
  async function applyAll(inTransaction: (work: Work) => Promise<boolean>): Promise<void> {
    for (const migration of migrations) {
      // SQLite blocks this thread, so that no timer fires before the migration is done. With the data of years that takes minutes.
      const blocks = database.engine === 'sqlite' && !isFirst && pending.includes(migration.name)
      if (blocks) onSlow(migration.name)
      const slow = blocks ? undefined : setTimeout(onSlow, SLOW_MS, migration.name).unref()
      const applying = inTransaction((trx) => applyOnce(trx, database.engine, migration, clock))
      const done = await applying.finally(() => clearTimeout(slow))
      if (done) applied.push(migration.name)
    }
  }
  try {
    if (isFirst && database.engine === 'sqlite') await maintenance.db.transaction().execute((trx) => applyAll((work) => work(trx)))
    else await applyAll((work) => maintenance.db.transaction().execute(work))
    return applied
  } catch (error) {
    throw withWayOut(error)
  } finally {
    await maintenance.close()
  }
}

const HELD = 'somebody holds a lock that a migration needs (another process that migrates, a backup, a long query)'

const AS_OWNER = 'run signalbox migrate as a role that owns the tables and may create others'

/** Adds the remedy to PostgreSQL's short messages about missing rights and locks. */
function withWayOut(error: unknown): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code === NO_LOCK) return Object.assign(new Error(HELD), { code })
  if (code !== NO_RIGHTS) return error
  return Object.assign(new Error(`${(error as Error).message}; ${AS_OWNER}`), { code })
}

async function applyOnce(trx: Transaction<Tables>, engine: Engine, migration: Migration, clock: Clock): Promise<boolean> {
  // SQLite's transactions begin with the write lock. PostgreSQL needs a lock that exists before any table does; it is per schema.
  if (engine === 'postgres') {
    await sql.raw(`set local lock_timeout = '${TURN_LIMIT}'`).execute(trx)
    await sql`select pg_advisory_xact_lock(hashtextextended('signalbox.migrations.' || current_schema(), 0))`.execute(trx)
    await sql.raw(`set local lock_timeout = '${TABLE_LIMIT}'`).execute(trx)
  }
  const { text, integer } = COLUMN_TYPES[engine]
  await trx.schema
    .createTable('migrations')
    .ifNotExists()
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('applied_at', integer, (column) => column.notNull())
    .execute()
  const known = await trx.selectFrom('migrations').select('name').where('name', '=', migration.name).executeTakeFirst()
  if (known) return false
  await migration.up(trx, COLUMN_TYPES[engine])
  await trx.insertInto('migrations').values({ name: migration.name, applied_at: clock.now() }).execute()
  return true
}

/** PostgreSQL: why this role cannot apply migrations, as a sentence; undefined if nothing is known. Checks rights, and takes no lock. */
export async function migrationFault(db: Db, engine: Engine): Promise<string | undefined> {
  if (engine === 'sqlite') return undefined
  const found = await sql<{
    readonly role: string
    readonly schema: string | null
    readonly is_read: boolean
    readonly creates: boolean
    readonly owner: string | null
  }>`
    select current_user as role, current_schema() as schema, current_setting('transaction_read_only') = 'on' as is_read,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates,
      (select tableowner from pg_tables where schemaname = current_schema() and tablename = 'migrations' and not pg_has_role(tableowner, 'usage')) as owner
  `.execute(db)
  const { role, schema, is_read: isRead, creates, owner } = found.rows[0]!
  if (isRead) return 'no migration can be applied, as it takes no writes (a standby, or default_transaction_read_only)'
  if (schema === null) return 'no migration can be applied, as its search_path names no schema that exists: create one, or name it for the role'
  if (creates && owner === null) return undefined
  const missing = creates ? `its tables belong to ${owner}` : `it may create no table in the schema ${schema}`
  return `the role ${role} cannot apply migrations (${missing}): ${AS_OWNER}`
}

async function hasMigrationsTable(db: Db, engine: Engine): Promise<boolean> {
  const found =
    engine === 'postgres'
      ? await sql`select 1 where to_regclass('migrations') is not null`.execute(db)
      : await sql`select 1 from sqlite_master where type = 'table' and name = 'migrations'`.execute(db)
  return found.rows.length > 0
}

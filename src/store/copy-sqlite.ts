import { DatabaseSync } from 'node:sqlite'
import { sql, type Transaction } from 'kysely'
import { GatewayError } from '../core/error.ts'
import type { Clock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'
import { createBulkInsert } from './bulk-insert.ts'
import type { Database, Db, Tables } from './database.ts'
import { migrate, newerSchema, pendingMigrations } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openDatabase } from './open-database.ts'
import { guarded, toStoreError } from './store-error.ts'

/** Rows read at a time. Bodies may have megabytes each. */
const ROWS = 512
const BODIES = 16

/** What is copied, and how many rows at a time. Rows come after those they refer to. `migrations` and `config_version` are the target's own. */
export const COPIED_TABLES: ReadonlyMap<Exclude<keyof Tables, 'migrations' | 'config_version'>, number> = new Map([
  ['workspaces', ROWS],
  ['facts', ROWS],
  ['api_keys', ROWS],
  ['key_uses', ROWS],
  ['generations', ROWS],
  ['generation_content', BODIES],
  ['destinations', ROWS],
  ['outbox_keys', ROWS],
  ['outbox_contents', BODIES],
  ['outbox_deliveries', ROWS],
  ['outbox_counters', ROWS],
  ['spend', ROWS],
  ['activity', ROWS],
  ['own_keys', ROWS],
  ['presets', ROWS],
  ['preset_versions', BODIES],
  ['guardrails', ROWS],
  ['guardrail_keys', ROWS],
  ['kept_answers', BODIES],
])

export interface CopyOptions {
  /** An SQLite database, up to date. It is not changed, and locked for writing meanwhile. */
  readonly path: string
  /** A PostgreSQL database that holds nothing yet; it is migrated first. */
  readonly url: Secret
  readonly clock: Clock
  /** Called with each table that has rows, and how many, when it is copied. */
  readonly onTable?: (table: string, rows: number) => void
  /** Called while a table is copied, with the rows copied so far: records of years take many minutes. */
  readonly onRows?: (table: string, rows: number) => void
}

type Reports = Required<Pick<CopyOptions, 'onTable' | 'onRows'>>

/**
 * Copies an embedded database into an empty PostgreSQL database, in one transaction: whatever ends it early leaves the target empty. Secrets stay
 * encrypted with the same key. Throws GatewayError `precondition_failed` for a source of another version, `conflict` for one that is in use, also
 * after the copy, and for a target that holds data.
 */
export async function copySqlite({ path, url, clock, onTable = () => undefined, onRows = () => undefined }: CopyOptions): Promise<void> {
  if (isInUse(path)) {
    const reason = 'what it writes from now on would not be copied'
    throw new GatewayError('conflict', `${path} is in use: stop the gateway, or whatever else has it open, because ${reason}`)
  }
  const [source, target] = [openDatabase({ path }), openDatabase({ url })]
  try {
    await guarded(async () => {
      await requireThisVersion(source, path)
      await migrate(target, MIGRATIONS, clock)
      await copyAll(source, target, { onTable, onRows })
    })
  } finally {
    await Promise.all([source.db.destroy(), target.db.destroy()])
  }
  // A gateway that a supervisor starts again meanwhile only waits for the lock.
  if (!isInUse(path)) return
  const advice = 'stop what has it open, create another empty database and copy again'
  throw new GatewayError('conflict', `${path} was opened during the copy, and what is written to it since then is not copied: ${advice}`)
}

const SQLITE_BUSY = 5

/** Whether another connection, of any process, has the file open. */
function isInUse(path: string): boolean {
  const probe = new DatabaseSync(path, { timeout: 0 })
  try {
    // In WAL mode this needs a lock that every open connection excludes, even one that does nothing.
    probe.exec('pragma locking_mode = exclusive; begin immediate; rollback')
    return false
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return true
    throw toStoreError(error)
  } finally {
    probe.close()
  }
}

async function requireThisVersion({ db, engine }: Database, path: string): Promise<void> {
  const newer = await newerSchema(db, engine, MIGRATIONS)
  const pending = await pendingMigrations(db, engine, MIGRATIONS)
  if (newer === undefined && pending.length === 0) return
  const advice = newer === undefined ? 'bring it up to date first (signalbox migrate without the URL of PostgreSQL)' : 'copy it with that version'
  throw new GatewayError('precondition_failed', `${path} was written by ${newer === undefined ? 'an older' : 'a newer'} version: ${advice}`)
}

async function copyAll(source: Database, target: Database, { onTable, onRows }: Reports): Promise<void> {
  const maintenance = target.forMaintenance()
  try {
    await source.db.transaction().execute((from) =>
      maintenance.db.transaction().execute(async (to) => {
        // The lock of this row keeps gateways from creating keys here, and the new version makes those that run read everything again.
        await to
          .updateTable('config_version')
          .set({ version: sql`version + ${await versionOf(from)}` })
          .execute()
        await requireEmpty(to)
        for (const table of COPIED_TABLES.keys()) {
          const rows = await copyTable(from, to, table, (soFar) => onRows(table, soFar))
          if (rows > 0) onTable(table, rows)
        }
      }),
    )
  } finally {
    await maintenance.close()
  }
}

const versionOf = async (db: Db): Promise<number> => (await db.selectFrom('config_version').select('version').executeTakeFirstOrThrow()).version

async function requireEmpty(to: Transaction<Tables>): Promise<void> {
  for (const table of COPIED_TABLES.keys()) {
    const found = await sql`select 1 from ${sql.table(table)} limit 1`.execute(to)
    if (found.rows.length === 0) continue
    const advice = 'create another one, and start no gateway with it before the copy'
    throw new GatewayError('conflict', `The PostgreSQL database is not empty (${table} has rows): ${advice}`)
  }
}

async function copyTable(
  from: Db,
  to: Transaction<Tables>,
  table: Parameters<typeof COPIED_TABLES.get>[0],
  onRows: (soFar: number) => void,
): Promise<number> {
  const columns = await targetColumns(to, table)
  const names = columns.map(({ name }) => name)
  const insert = createBulkInsert(to, table, names as never)
  const step = COPIED_TABLES.get(table)!
  let copied = 0
  for (let after = 0; ;) {
    const page = await sql<{ readonly [column: string]: unknown }>`
      select rowid as copied_row, * from ${sql.table(table)} where rowid > ${after} order by rowid limit ${step}`.execute(from)
    const last = page.rows.at(-1)
    if (last === undefined) break
    const rows = page.rows.map((row) => Object.fromEntries(columns.map(({ name, isFlag }) => [name, isFlag ? Boolean(row[name]) : row[name]])))
    await insert(to, rows)
    copied += rows.length
    onRows(copied)
    after = last['copied_row'] as number
  }
  const counted = await sql<{ readonly count: number }>`select count(*) as count from ${sql.table(table)}`.execute(to)
  if (counted.rows[0]!.count === copied) return copied
  throw new GatewayError('server', `Of ${copied} rows of ${table}, ${counted.rows[0]!.count} arrived: nothing was copied`)
}

/** Without those that PostgreSQL counts up itself: rows are inserted in their order. */
async function targetColumns(to: Transaction<Tables>, table: string): Promise<readonly { readonly name: string; readonly isFlag: boolean }[]> {
  const found = await sql<{ readonly name: string; readonly type: string }>`
    select column_name as name, data_type as type from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and is_identity = 'NO' order by ordinal_position`.execute(to)
  return found.rows.map(({ name, type }) => ({ name, isFlag: type === 'boolean' }))
}

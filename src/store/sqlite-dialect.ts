import { accessSync, closeSync, constants, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { randomId } from '../lib/id.ts'

export interface SqliteDialectOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  /** `normal` survives a crash of the process; `full` also a loss of power, at the price of a disk flush per commit. */
  readonly synchronous: 'normal' | 'full'
  /** How long a write waits while another process holds the write lock, in milliseconds. */
  readonly busyLimitMs: number
}

/** How long SQLite may block the thread on a lock; after that the wait continues without blocking. */
const BLOCKING_WAIT_MS = 20
const RETRY_MS = 15
const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
const SQLITE_CANTOPEN = 14
/** More than a journal and its index need at once. */
const ROOM_BYTES = 65_536
const CHECKPOINT_BYTES = 32 * 1024 * 1024
/** There are few statements (one per query, a handful per bulk insert); the bound is a safeguard. */
const MAX_STATEMENTS = 128

/** `node:sqlite` for kysely. One connection, because SQLite has one writer anyway and kysely queues its users. */
export function sqliteDialect(options: SqliteDialectOptions): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function createDriver(options: SqliteDialectOptions): Driver {
  let database: DatabaseSync | undefined
  let connection: DatabaseConnection | undefined
  const execute = (current: DatabaseConnection, sql: string) => current.executeQuery(CompiledQuery.raw(sql)).then(() => undefined)

  return {
    init: async () => {
      database = await open(options)
      connection = createConnection(database, createPlaceCheck(options.path))
    },
    // Kysely gives the connection to one user at a time, because the adapter declares only one.
    acquireConnection: () => (connection ? Promise.resolve(connection) : Promise.reject(new Error('the database is not open'))),
    // `immediate`: a transaction that begins as a reader and then writes fails without waiting if another process wrote in between.
    beginTransaction: (current) => whileBusy(options.busyLimitMs, () => execute(current, 'begin immediate')),
    commitTransaction: (current) => execute(current, 'commit'),
    // A full disk ends the transaction by itself; a rollback would then hide that error behind its own.
    rollbackTransaction: (current) => (database?.isTransaction ? execute(current, 'rollback') : Promise.resolve()),
    releaseConnection: () => Promise.resolve(),
    destroy: () => {
      database?.close()
      database = undefined
      connection = undefined
      return Promise.resolve()
    },
  }
}

async function open({ path, synchronous, busyLimitMs }: SqliteDialectOptions): Promise<DatabaseSync> {
  if (path !== ':memory:') makeFile(path)
  const database = new DatabaseSync(path, { timeout: BLOCKING_WAIT_MS, enableForeignKeyConstraints: true })
  try {
    // Switching to WAL needs exclusive access for a moment, so processes that start together take turns.
    await whileBusy(busyLimitMs, () => {
      if (isEmpty(database)) shape(database)
      database.exec('pragma journal_mode = wal')
      return Promise.resolve()
    })
    database.exec(`pragma synchronous = ${synchronous === 'full' ? 'full' : 'normal'}`)
    // A checkpoint syncs to disk and rewrites index pages; at the default of 4 MB it was half the cost of writing records.
    const { page_size: pageSize } = database.prepare('pragma page_size').get() as { readonly page_size: number }
    database.exec(`pragma wal_autocheckpoint = ${Math.floor(CHECKPOINT_BYTES / pageSize)}`)
    // After a burst the WAL file is cut back to this.
    database.exec('pragma journal_size_limit = 67108864')
    // Statements copy what they may have to undo, beyond 64 KB into a temporary file, which would be created and removed for every batch in a folder
    // that is not ours. Batches are bounded, and so are these copies in memory.
    database.exec('pragma temp_store = memory')
    return database
  } catch (error) {
    // Before closing: that frees file descriptors, and would hide that there were none.
    const reason = lacksReason(error) ? noRoomBeside(path) : undefined
    database.close()
    throw reason ?? error
  }
}

/**
 * If SQLite cannot create its journal it says only that it could not open a file, and on a full disk that there was a disk I/O error. Writing another
 * file beside it shows whether the disk or the process has no room at the moment, or the folder belongs to somebody else. Undefined if files can be
 * written there.
 */
function noRoomBeside(path: string): unknown {
  const probe = `${path}.room.${randomId(8)}`
  try {
    writeFileSync(probe, Buffer.alloc(ROOM_BYTES), { flag: 'wx', mode: 0o600 })
    return undefined
  } catch (error) {
    return error
  } finally {
    rmSync(probe, { force: true })
  }
}

const isEmpty = (database: DatabaseSync): boolean => Number(Object.values(database.prepare('pragma page_count').get() ?? {})[0]) === 0

/**
 * Settings that take effect only in an empty database. In one that has pages they would change nothing but still write: readers would wait for the
 * writer, and fail on a full disk.
 */
function shape(database: DatabaseSync): void {
  // The content of a call is about 2 KB: a page of 4 KB holds one, a page of 8 KB three.
  database.exec('pragma page_size = 8192')
  // So that pruned space can be given back later.
  database.exec('pragma auto_vacuum = incremental')
}

/**
 * Created by us first, so that only the owner can read content and hashes; the journal files inherit the mode. An existing file is not opened and
 * closed: by POSIX rules closing it would drop the locks of all connections that this process has to it, and the next program to open the database
 * would take itself for the last one and delete the journal that this process still writes.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    checkFile(path)
  }
}

/** Throws as opening it would, with a clearer reason than the database gives. */
function checkFile(path: string): void {
  if (statSync(path).isDirectory()) throw Object.assign(new Error(`${path} is a directory`), { code: 'EISDIR' })
  accessSync(path, constants.R_OK | constants.W_OK)
}

/**
 * Throws if the path no longer leads to the file that was opened: a backup was put in its place, or the folder was cleared. The open file would still
 * work, but nobody would ever see what is written to it.
 */
function createPlaceCheck(path: string): () => void {
  if (path === ':memory:') return () => undefined
  const opened = fileAt(path)
  return () => {
    const found = fileAt(path)
    if (opened === undefined || found === undefined || found === opened) return
    const what = found === 'none' ? `${path} was removed` : `another file was put in the place of ${path}`
    throw new Error(`${what} while it is in use: put it back, or restart`)
  }
}

/** Undefined if the system does not say. */
function fileAt(path: string): string | undefined {
  try {
    const file = statSync(path, { bigint: true, throwIfNoEntry: false })
    return file === undefined ? 'none' : `${file.dev} ${file.ino}`
  } catch {
    return undefined
  }
}

/** Repeats work while another process holds the lock, without blocking the event loop. */
async function whileBusy(limitMs: number, work: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + limitMs
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      await sleep(RETRY_MS)
    }
  }
}

const isBusy = (error: unknown): boolean => primaryCode(error) === SQLITE_BUSY

const lacksReason = (error: unknown): boolean => [SQLITE_CANTOPEN, SQLITE_IOERR].includes(primaryCode(error) ?? 0)

const primaryCode = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
}

function createConnection(database: DatabaseSync, checkPlace: () => void): DatabaseConnection {
  const prepared = new Map<string, Prepared>()

  const prepare = (sql: string): Prepared => {
    const known = prepared.get(sql)
    if (known) return known
    const statement = database.prepare(sql)
    // Some pragmas work one step per row and declare no columns, so all of them are read to the end.
    const fresh = { statement, returnsRows: statement.columns().length > 0 || sql.startsWith('pragma') }
    // Definitions and pragmas run once; only statements that repeat are kept.
    if (/^\s*(\/\*.*?\*\/\s*)?(select|with|insert|update|delete|begin|commit)\b/.test(sql)) {
      if (prepared.size >= MAX_STATEMENTS) prepared.clear()
      prepared.set(sql, fresh)
    }
    return fresh
  }

  // Kysely knows the shape of the rows.
  const run = (query: CompiledQuery): QueryResult<never> => {
    if (!database.isTransaction) checkPlace()
    const { statement, returnsRows } = prepare(query.sql)
    const parameters = query.parameters.map(toSqlite)
    if (returnsRows) return { rows: statement.all(...parameters) as unknown as never[] }
    return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) }
  }

  return {
    executeQuery: async (query) => run(query),
    streamQuery: async function* (query) {
      yield run(query)
    },
  }
}

/** SQLite has no booleans, and the driver refuses them. */
function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value === undefined ? null : (value as SQLInputValue)
}

import { GatewayError } from '../core/error.ts'
import type { Secret } from '../lib/secret.ts'
import { openKysely, type Database } from './database.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

export interface DatabaseOptions {
  /** SQLite: a file, or `:memory:`. Exactly one of `path` and `url`. */
  readonly path?: string
  /** PostgreSQL: `postgres://user:password@host:port/database`. */
  readonly url?: Secret
  /** SQLite: `normal` (default) survives a crash of the process, `full` also a loss of power. */
  readonly synchronous?: 'normal' | 'full'
  /** SQLite: milliseconds a write waits while another process writes. Default 5000. */
  readonly busyLimitMs?: number
  /** PostgreSQL: connections of this process. Default 8. */
  readonly maxConnections?: number
  /** PostgreSQL: milliseconds to wait for a connection. Default 3000. */
  readonly connectLimitMs?: number
  /** PostgreSQL: milliseconds a statement may take. Default 10000. */
  readonly statementLimitMs?: number
}

/** Migrations wait for each other and may rewrite tables. */
export const MAINTENANCE_LIMIT_MS = 10 * 60_000

/** Connects only with the first statement, so that a gateway starts even if its database does not answer. */
export function openDatabase(options: DatabaseOptions): Database {
  if ((options.path === undefined) === (options.url === undefined)) {
    throw new GatewayError('invalid_request', 'A store needs either the path of an SQLite file or the URL of a PostgreSQL database')
  }
  return options.url === undefined ? openSqlite(options.path ?? '', options) : openPostgres(options.url, options)
}

function openSqlite(path: string, { synchronous = 'normal', busyLimitMs = 5_000 }: DatabaseOptions): Database {
  const db = openKysely(sqliteDialect({ path, synchronous, busyLimitMs }))
  if (path === ':memory:') return { engine: 'sqlite', db, forMaintenance: () => ({ db, close: () => Promise.resolve() }) }
  return {
    engine: 'sqlite',
    db,
    forMaintenance: () => {
      const own = openKysely(sqliteDialect({ path, synchronous, busyLimitMs: MAINTENANCE_LIMIT_MS }))
      return { db: own, close: () => own.destroy() }
    },
  }
}

function openPostgres(url: Secret, { maxConnections = 8, connectLimitMs = 3_000, statementLimitMs = 10_000 }: DatabaseOptions): Database {
  // There is no host before the path if a parameter names the socket.
  if (!/^postgres(ql)?:\/\//.test(url.reveal()) || !URL.canParse(url.reveal().replace('@/', '@socket/'))) {
    throw new GatewayError('invalid_request', 'The database URL (SIGNALBOX_DATABASE_URL) must look like postgres://user:password@host:5432/database')
  }
  return {
    engine: 'postgres',
    db: openKysely(postgresDialect({ url, maxConnections, connectLimitMs, statementLimitMs })),
    forMaintenance: () => {
      const own = openKysely(postgresDialect({ url, maxConnections: 1, connectLimitMs, statementLimitMs: MAINTENANCE_LIMIT_MS }))
      return { db: own, close: () => own.destroy() }
    },
  }
}

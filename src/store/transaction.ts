import { PostgresAdapter, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import { guarded } from './store-error.ts'

/** A write that is no configuration. In a transaction even when it is one statement: SQLite waits for its lock without blocking only there. */
export function inTransaction<T>(db: Db, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  return guarded(() => db.transaction().execute(work))
}

/** For what only one database knows, where there is nothing at hand but the connection or transaction. */
export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter

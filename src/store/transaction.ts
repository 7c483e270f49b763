import { PostgresAdapter, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import { guarded } from './store-error.ts'

/** For writes other than configuration. Even a single statement runs in a transaction, because only there SQLite's lock is awaited without blocking. */
export function inTransaction<T>(db: Db, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  return guarded(() => db.transaction().execute(work))
}

/** For code that has only a connection or transaction at hand and needs to know the database. */
export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter

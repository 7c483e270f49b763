import { PostgresAdapter, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import { guarded, isDeadlock } from './store-error.ts'

/** For writes other than configuration. Even a single statement runs in a transaction, because only there SQLite's lock is awaited without blocking. */
export function inTransaction<T>(db: Db, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  return guarded(() => db.transaction().execute(work))
}

/** Of transactions that wait for each other one is ended, each time after a second. */
const MAX_DEADLOCKS = 3

/**
 * Does the work again if PostgreSQL has ended its transaction because it and another one waited for each other. Nothing of it is stored then, so this is
 * for work that changes nothing besides the database.
 */
export async function againAfterDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let left = MAX_DEADLOCKS; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (left === 0 || !isDeadlock(error)) throw error
    }
  }
}

/** For code that has only a connection or transaction at hand and needs to know the database. */
export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter

import { sql, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/**
 * A write of configuration: the work and one more on the version in one transaction, so that no snapshot can miss it.
 * Work that returns undefined or false changed nothing and moves no version.
 */
export function changeConfiguration<T>(db: Db, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  return inTransaction(db, async (trx) => {
    const result = await work(trx)
    if (result !== undefined && result !== false)
      await trx
        .updateTable('config_version')
        .set({ version: sql`version + 1` })
        .execute()
    return result
  })
}

/** Of all configuration in the store; grows by one with each change. */
export function readVersion(db: Db): Promise<number> {
  return guarded(async () => (await db.selectFrom('config_version').select('version').executeTakeFirstOrThrow()).version)
}

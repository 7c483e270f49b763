import type { FactStore } from '../core/store.ts'
import type { Db } from './database.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

export function createFactStore(db: Db): FactStore {
  return {
    get: (name) => guarded(async () => (await db.selectFrom('facts').select('value').where('name', '=', name).executeTakeFirst())?.value),
    replace: (name, expected, value) =>
      inTransaction(db, async (trx) => {
        if (expected === undefined) {
          const inserted = await trx
            .insertInto('facts')
            .values({ name, value })
            .onConflict((conflict) => conflict.column('name').doNothing())
            .executeTakeFirst()
          return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n
        }
        const updated = await trx.updateTable('facts').set({ value }).where('name', '=', name).where('value', '=', expected).executeTakeFirst()
        return updated.numUpdatedRows > 0n
      }),
  }
}

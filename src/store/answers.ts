import { sql } from 'kysely'
import type { AnswerStore } from '../core/answer-cache.ts'
import type { Db } from './database.ts'
import { assertCurrentKey } from './secrets.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/** Rows of one deletion: it holds SQLite's write lock. */
const TRIMMED_ROWS = 500

export function createAnswerStore(db: Db): AnswerStore {
  return {
    find: (key, now) =>
      guarded(
        async () =>
          (await db.selectFrom('kept_answers').select('sealed').where('key', '=', key).where('expires_at', '>', now).executeTakeFirst())?.sealed,
      ),
    keep: ({ key, workspaceId, sealed, expiresAt }) =>
      inTransaction(db, async (trx) => {
        await assertCurrentKey(trx, sealed)
        const row = { workspace_id: workspaceId, sealed, bytes: sealed.length, expires_at: expiresAt }
        await trx
          .insertInto('kept_answers')
          .values({ key, ...row })
          .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
          .execute()
      }),
    trim: (now, maxBytes) =>
      inTransaction(db, async (trx) => {
        // Those that expire last are counted first: what no longer fits behind them goes.
        const gone = await sql`
          delete from kept_answers where key in (
            select key from (
              select key, expires_at, sum(bytes) over (order by expires_at desc, key) as together from kept_answers
            ) as counted where expires_at <= ${now} or together > ${maxBytes} order by expires_at limit ${TRIMMED_ROWS})`.execute(trx)
        return Number(gone.numAffectedRows ?? 0n)
      }),
  }
}

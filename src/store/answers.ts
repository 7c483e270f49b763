import { sql } from 'kysely'
import type { AnswerStore } from '../core/answer-cache.ts'
import type { Db } from './database.ts'
import { assertCurrentKey } from './secrets.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/** Rows of one deletion, which holds SQLite's write lock. */
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
        const expired = await sql`
          delete from kept_answers where key in (
            select key from kept_answers where expires_at <= ${now} order by expires_at limit ${TRIMMED_ROWS})`.execute(trx)
        const expiredRows = rowsOf(expired)
        if (expiredRows === TRIMMED_ROWS) return expiredRows
        const { rows } = await sql<{ bytes: number | string | null }>`select sum(bytes) as bytes from kept_answers`.execute(trx)
        const excess = Number(rows[0]?.bytes ?? 0) - maxBytes
        // Usually there is none, and then only an index is summed. Sorting the rows as well took seconds of SQLite's thread.
        if (excess <= 0) return expiredRows
        const pushed = await sql`
          delete from kept_answers where key in (
            select key from (
              select key, sum(bytes) over (order by expires_at, key) - bytes as before from (
                select key, expires_at, bytes from kept_answers order by expires_at limit ${TRIMMED_ROWS - expiredRows}) as oldest
            ) as counted where before < ${excess})`.execute(trx)
        return expiredRows + rowsOf(pushed)
      }),
  }
}

const rowsOf = ({ numAffectedRows }: { readonly numAffectedRows?: bigint | undefined }): number => Number(numAffectedRows ?? 0n)

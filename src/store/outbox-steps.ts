import type { SelectQueryBuilder, Transaction } from 'kysely'
import { nextTurn } from '../lib/next-turn.ts'
import type { Db, Tables } from './database.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/** Rows of one transaction, which holds the write lock. */
export const STEP = 2_000
/** Rows found by one read. */
export const AT_ONCE = 50_000

type Work<Row> = (trx: Transaction<Tables>, rows: readonly Row[]) => Promise<unknown>

/** Works on many rows in several transactions, with turns of the event loop in between: others can write, and SQLite does not block this thread throughout. */
export async function inSteps<Row>(db: Db, rows: readonly Row[], work: Work<Row>): Promise<void> {
  for (let at = 0; at < rows.length; at += STEP) {
    await inTransaction(db, (trx) => work(trx, rows.slice(at, at + STEP)))
    await nextTurn()
  }
}

/**
 * The same for everything a query finds. The work must remove each row from the query's results, except the few that somebody else has locked.
 */
export async function allInSteps(db: Db, found: SelectQueryBuilder<Tables, 'outbox_deliveries', { seq: number }>, work: Work<number>): Promise<void> {
  for (let left = AT_ONCE; left === AT_ONCE;) {
    const rows = await guarded(() => found.limit(AT_ONCE).execute())
    left = rows.length
    await inSteps(
      db,
      rows.map(({ seq }) => seq),
      work,
    )
  }
}

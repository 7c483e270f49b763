import { sql, type Transaction } from 'kysely'
import type { Database, Engine, Tables } from './database.ts'
import { numberList, textList } from './id-list.ts'
import { allInSteps } from './outbox-steps.ts'

type Trx = Transaction<Tables>

/**
 * Deletes content of these generations that no delivery may see any more. Two processes that settle the last two deliveries at once both leave it;
 * `sweep` removes it then.
 */
export async function dropUnseenContent(trx: Trx, engine: Engine, generationIds: readonly string[]): Promise<void> {
  if (generationIds.length === 0) return
  await trx
    .deleteFrom('outbox_contents')
    .where('id', 'in', textList(engine, generationIds))
    .where((expression) =>
      expression.not(
        expression.exists(
          expression
            .selectFrom('outbox_deliveries')
            .select('seq')
            .whereRef('outbox_deliveries.generation_id', '=', 'outbox_contents.id')
            .where('outbox_deliveries.content_bytes', '>', 0),
        ),
      ),
    )
    .execute()
}

/** Deletes everything that waits for a destination, dead letters included. Returns the number of deliveries. */
export async function cancelDeliveries(trx: Trx, engine: Engine, destinationId: string): Promise<number> {
  const deleted = await deleteDeliveries(trx, engine, destinationId)
  await trx.deleteFrom('outbox_counters').where('destination_id', '=', destinationId).execute()
  return deleted
}

/** All of them, or those with these numbers. */
async function deleteDeliveries(trx: Trx, engine: Engine, destinationId: string, seqs?: readonly number[]): Promise<number> {
  let query = trx.deleteFrom('outbox_deliveries').where('destination_id', '=', destinationId)
  if (seqs !== undefined) query = query.where('seq', 'in', numberList(engine, seqs))
  const deleted = await query.returning(['generation_id', 'content_bytes']).execute()
  await dropUnseenContent(trx, engine, withContent(deleted))
  return deleted.length
}

/** Removes the content of waiting and dead deliveries of a destination: of all, or of those with these numbers. */
export async function stripDeliveries(trx: Trx, engine: Engine, destinationId: string, seqs?: readonly number[]): Promise<void> {
  let query = trx
    .updateTable('outbox_deliveries')
    .set({ bytes: sql`bytes - content_bytes`, content_bytes: 0 })
    .where('destination_id', '=', destinationId)
    .where('content_bytes', '>', 0)
  if (seqs !== undefined) query = query.where('seq', 'in', numberList(engine, seqs))
  const stripped = await query.returning('generation_id').execute()
  await dropUnseenContent(
    trx,
    engine,
    stripped.map((row) => row.generation_id),
  )
}

/**
 * Does most of what `cancelDeliveries` or `stripDeliveries` is about to do, in smaller transactions. Hundreds of thousands of deliveries are too many
 * for one statement: nobody else could write meanwhile, and with SQLite this thread could do nothing else. What is added meanwhile is left to them.
 */
export async function clearAhead(
  { db, engine }: Pick<Database, 'db' | 'engine'>,
  what: 'deliveries' | 'content',
  destinationId: string,
): Promise<void> {
  const clear: (trx: Trx, engine: Engine, destinationId: string, seqs: readonly number[]) => Promise<unknown> =
    what === 'deliveries' ? deleteDeliveries : stripDeliveries
  /** What a worker has locked it is about to settle: to wait for it with thousands of rows locked would be a deadlock sooner or later. */
  const unlocked = async (trx: Trx, seqs: readonly number[]): Promise<readonly number[]> => {
    if (engine === 'sqlite') return seqs
    const found = await trx
      .selectFrom('outbox_deliveries')
      .select('seq')
      .where('seq', 'in', numberList(engine, seqs))
      .forUpdate()
      .skipLocked()
      .execute()
    return found.map(({ seq }) => seq)
  }
  let queue = db.selectFrom('outbox_deliveries').select('seq').where('destination_id', '=', destinationId)
  if (what === 'content') queue = queue.where('content_bytes', '>', 0)
  await allInSteps(db, queue, async (trx, seqs) => clear(trx, engine, destinationId, await unlocked(trx, seqs)))
}

export const withContent = (rows: readonly { readonly generation_id: string; readonly content_bytes: number }[]): readonly string[] =>
  rows.filter((row) => row.content_bytes > 0).map((row) => row.generation_id)

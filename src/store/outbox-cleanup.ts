import { sql, type Transaction } from 'kysely'
import type { Engine, Tables } from './database.ts'
import { textList } from './id-list.ts'

type Trx = Transaction<Tables>

/** Deletes content of these generations that no delivery may see any more. Two processes that settle the last two at once both leave it: see `sweep`. */
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

/** Everything that waits for a destination, dead letters included. Returns how many deliveries. */
export async function cancelDeliveries(trx: Trx, engine: Engine, destinationId: string): Promise<number> {
  const gone = await trx
    .deleteFrom('outbox_deliveries')
    .where('destination_id', '=', destinationId)
    .returning(['generation_id', 'content_bytes'])
    .execute()
  await dropUnseenContent(trx, engine, withContent(gone))
  await trx.deleteFrom('outbox_counters').where('destination_id', '=', destinationId).execute()
  return gone.length
}

/** Waiting and dead deliveries of a destination no longer carry content. */
export async function stripDeliveries(trx: Trx, engine: Engine, destinationId: string): Promise<void> {
  const stripped = await trx
    .updateTable('outbox_deliveries')
    .set({ bytes: sql`bytes - content_bytes`, content_bytes: 0 })
    .where('destination_id', '=', destinationId)
    .where('content_bytes', '>', 0)
    .returning('generation_id')
    .execute()
  await dropUnseenContent(
    trx,
    engine,
    stripped.map((row) => row.generation_id),
  )
}

export const withContent = (rows: readonly { readonly generation_id: string; readonly content_bytes: number }[]): readonly string[] =>
  rows.filter((row) => row.content_bytes > 0).map((row) => row.generation_id)

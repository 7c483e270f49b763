import { sql } from 'kysely'
import type { DurableOutbox } from '../core/outbox.ts'
import type { Database } from './database.ts'
import { guarded } from './store-error.ts'

/**
 * The destinations that have deliveries, as `ids`: found by skipping through the index, so that the cost depends on their number, not on the length of
 * the queue.
 */
export const QUEUES = sql`
  with recursive ids(id) as (
    select min(destination_id) from outbox_deliveries
    union all
    select (select min(destination_id) from outbox_deliveries where destination_id > ids.id) from ids where ids.id is not null
  )`

export async function destinationsInQueue({ db }: Pick<Database, 'db'>): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`${QUEUES} select id from ids where id is not null`.execute(db)
  return rows.map(({ id }) => id)
}

/** See `DurableOutbox.queues`. Reads only the index; a statement for each queue, because together they may be millions of rows. */
export function createQueues(database: Database): DurableOutbox['queues'] {
  return () =>
    guarded(async () => {
      const queues = []
      for (const destinationId of await destinationsInQueue(database)) {
        const { rows } = await sql<{ readonly queued: number; readonly oldest_at: number | null }>`
          select count(*) as queued, min(entered_at) as oldest_at from outbox_deliveries
          where destination_id = ${destinationId} and due_at is not null`.execute(database.db)
        queues.push({ destinationId, queued: rows[0]?.queued ?? 0, oldestAt: rows[0]?.oldest_at ?? undefined })
      }
      return queues
    })
}

import { sql } from 'kysely'
import type { Database } from './database.ts'

/** The destinations that have deliveries, as `ids`: found by skipping through the index, so that the cost depends on their number, not on the length of the queue. */
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

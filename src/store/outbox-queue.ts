import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Destinations with any delivery, by jumping through the index from one to the next: its cost is their number, not the queue's. */
export async function destinationsInQueue({ db }: Pick<Database, 'db'>): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive ids(id) as (
      select min(destination_id) from outbox_deliveries
      union all
      select (select min(destination_id) from outbox_deliveries where destination_id > ids.id) from ids where ids.id is not null
    ) select id from ids where id is not null`.execute(db)
  return rows.map(({ id }) => id)
}

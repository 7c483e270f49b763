import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const leaseOwners: Migration = {
  name: '0011-lease-owners',
  up: async (db) => {
    // A process finds its leases when it starts and when it stops, however long the queues are. Few deliveries are leased at a time.
    await sql`create index outbox_deliveries_leased on outbox_deliveries (owner, seq) where owner is not null`.execute(db)
  },
}

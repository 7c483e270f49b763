import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const destinations: Migration = {
  name: '0002-destinations',
  up: async (db, { text, json, integer, real, flag, blob, serial }) => {
    await db.schema
      .createTable('destinations')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('type', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('enabled', flag, (column) => column.notNull())
      .addColumn('paused', flag, (column) => column.notNull())
      .addColumn('config', json, (column) => column.notNull())
      .addColumn('sealed', text)
      .addColumn('api_key_hashes', json)
      .addColumn('filter_rules', json)
      .addColumn('sampling_rate', real, (column) => column.notNull())
      .addColumn('privacy_mode', flag, (column) => column.notNull())
      .addColumn('broadcast_cost', flag, (column) => column.notNull())
      .addColumn('broadcast_identity', flag, (column) => column.notNull())
      .addColumn('broadcast_request_context', flag, (column) => column.notNull())
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('deleted_at', integer)
      .execute()
    await db.schema.createIndex('destinations_workspace').on('destinations').columns(['workspace_id', 'type']).execute()

    await db.schema
      .createTable('outbox_keys')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .execute()

    // No foreign keys in the outbox: recording must not fail because a destination was deleted. A sweep removes what is left over.
    await db.schema
      .createTable('outbox_contents')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('key_id', text, (column) => column.notNull())
      .addColumn('body', blob, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('outbox_contents_key').on('outbox_contents').column('key_id').execute()

    await db.schema
      .createTable('outbox_deliveries')
      .addColumn('seq', serial)
      .addColumn('generation_id', text, (column) => column.notNull())
      .addColumn('destination_id', text, (column) => column.notNull())
      .addColumn('entered_at', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('owner', text)
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('bytes', integer, (column) => column.notNull())
      .addColumn('content_bytes', integer, (column) => column.notNull())
      .addColumn('last_status', integer)
      .addColumn('last_error', text)
      .addColumn('reason', text)
      .addColumn('died_at', integer)
      .addUniqueConstraint('outbox_deliveries_once', ['generation_id', 'destination_id'])
      .execute()
    // Everything that counts a queue reads only this index.
    await db.schema
      .createIndex('outbox_deliveries_due')
      .on('outbox_deliveries')
      .columns(['destination_id', 'due_at', 'bytes', 'entered_at', 'attempts'])
      .execute()
    await sql`create index outbox_deliveries_dead on outbox_deliveries (destination_id, died_at) where died_at is not null`.execute(db)

    await db.schema
      .createTable('outbox_counters')
      .addColumn('destination_id', text, (column) => column.primaryKey().notNull())
      .addColumn('delivered', integer, (column) => column.notNull())
      .addColumn('rejected', integer, (column) => column.notNull())
      .addColumn('dropped', integer, (column) => column.notNull())
      .addColumn('bodies_dropped', integer, (column) => column.notNull())
      .addColumn('health', json)
      .execute()
  },
}

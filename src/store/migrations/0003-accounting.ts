import type { Migration } from './migration.ts'

export const accounting: Migration = {
  name: '0003-accounting',
  up: async (db, { text, json, integer, real, flag }) => {
    // Spending of keys, workspaces and the installation, one row per interval and period: reading a budget takes four lookups, however many
    // generations exist or have been pruned.
    await db.schema
      .createTable('spend')
      .addColumn('subject', text, (column) => column.notNull())
      .addColumn('interval', text, (column) => column.notNull())
      .addColumn('period_start', integer, (column) => column.notNull())
      .addColumn('usd', real, (column) => column.notNull())
      .addColumn('byok_usd', real, (column) => column.notNull())
      .addPrimaryKeyConstraint('spend_key', ['subject', 'interval', 'period_start'])
      .execute()

    // Generations summed by day, key and endpoint, so that the activity report reads hundreds of rows and not millions.
    await db.schema
      .createTable('activity')
      .addColumn('day', integer, (column) => column.notNull())
      .addColumn('workspace_id', text, (column) => column.notNull())
      .addColumn('key_hash', text, (column) => column.notNull())
      .addColumn('model', text, (column) => column.notNull())
      .addColumn('endpoint_id', text, (column) => column.notNull())
      .addColumn('provider_name', text, (column) => column.notNull())
      .addColumn('requests', integer, (column) => column.notNull())
      .addColumn('input_tokens', integer, (column) => column.notNull())
      .addColumn('output_tokens', integer, (column) => column.notNull())
      .addColumn('reasoning_tokens', integer, (column) => column.notNull())
      .addColumn('usd', real, (column) => column.notNull())
      .addColumn('byok_usd', real, (column) => column.notNull())
      .addPrimaryKeyConstraint('activity_key', ['day', 'workspace_id', 'key_hash', 'model', 'endpoint_id'])
      .execute()

    // Callers' own credentials for providers. The secret is in `sealed`, an envelope that only accounts/ can open.
    await db.schema
      .createTable('own_keys')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('provider', text, (column) => column.notNull())
      .addColumn('name', text)
      .addColumn('label', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('disabled', flag, (column) => column.notNull())
      .addColumn('is_fallback', flag, (column) => column.notNull())
      .addColumn('sort_order', integer, (column) => column.notNull())
      .addColumn('allowed_models', json)
      .addColumn('allowed_key_hashes', json)
      .addColumn('allowed_user_ids', json)
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('own_keys_workspace').on('own_keys').columns(['workspace_id', 'provider']).execute()
  },
}

import type { Migration } from './migration.ts'

export const guardrails: Migration = {
  name: '0005-guardrails',
  up: async (db, { text, json, integer }) => {
    await db.schema
      .createTable('guardrails')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('description', text)
      .addColumn('rules', json, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer)
      .execute()
    await db.schema.createIndex('guardrails_workspace').on('guardrails').column('workspace_id').execute()

    // At most one guardrail per key: the key's hash is the primary key.
    await db.schema
      .createTable('guardrail_keys')
      .addColumn('key_hash', text, (column) => column.primaryKey().notNull().references('api_keys.hash').onDelete('cascade'))
      .addColumn('id', text, (column) => column.notNull())
      .addColumn('guardrail_id', text, (column) => column.notNull().references('guardrails.id').onDelete('cascade'))
      .addColumn('assigned_by', text)
      .addColumn('created_at', integer, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('guardrail_keys_guardrail').on('guardrail_keys').column('guardrail_id').execute()
  },
}

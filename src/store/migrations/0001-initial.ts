import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const initial: Migration = {
  name: '0001-initial',
  up: async (db, { text, json, integer, real, flag }) => {
    // One row. Its lock orders all writers of configuration, so that a higher version is never visible before a lower one.
    await db.schema
      .createTable('config_version')
      .addColumn('id', integer, (column) => column.primaryKey().check(sql`id = 1`))
      .addColumn('version', integer, (column) => column.notNull())
      .execute()
    await db.insertInto('config_version').values({ id: 1, version: 1 }).execute()

    await db.schema
      .createTable('facts')
      .addColumn('name', text, (column) => column.primaryKey().notNull())
      .addColumn('value', text, (column) => column.notNull())
      .execute()

    await db.schema
      .createTable('workspaces')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('slug', text, (column) => column.notNull().unique())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('description', text)
      .addColumn('is_default', flag, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('settings', json, (column) => column.notNull())
      .execute()
    // At most one default workspace, even if several processes start at once.
    await sql`create unique index workspaces_default on workspaces (is_default) where is_default`.execute(db)

    await db.schema
      .createTable('api_keys')
      .addColumn('hash', text, (column) => column.primaryKey().notNull())
      .addColumn('kind', text, (column) => column.notNull().check(sql`kind in ('inference', 'management')`))
      .addColumn('workspace_id', text, (column) => column.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('label', text, (column) => column.notNull())
      .addColumn('disabled', flag, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('expires_at', integer)
      .addColumn('revoked_at', integer)
      .addColumn('creator_user_id', text)
      .addColumn('origin', text)
      .addColumn('settings', json, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('api_keys_workspace').on('api_keys').column('workspace_id').execute()

    // No foreign keys to workspaces and keys: recording must not fail because the owner was deleted during the call.
    await db.schema
      .createTable('generations')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull())
      .addColumn('key_hash', text, (column) => column.notNull())
      .addColumn('session_id', text)
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('requested_model', text, (column) => column.notNull())
      .addColumn('model', text)
      .addColumn('provider', text)
      .addColumn('endpoint_id', text)
      .addColumn('status', text, (column) => column.notNull())
      .addColumn('error_type', text)
      .addColumn('is_byok', flag, (column) => column.notNull())
      .addColumn('input_tokens', integer, (column) => column.notNull())
      .addColumn('cached_tokens', integer, (column) => column.notNull())
      .addColumn('output_tokens', integer, (column) => column.notNull())
      .addColumn('reasoning_tokens', integer, (column) => column.notNull())
      .addColumn('cost', real, (column) => column.notNull())
      .addColumn('first_token_ms', integer)
      .addColumn('duration_ms', integer, (column) => column.notNull())
      .addColumn('record', json, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('generations_workspace').on('generations').columns(['workspace_id', 'created_at']).execute()
    await db.schema.createIndex('generations_age').on('generations').column('created_at').execute()

    // Separate from the record, so that lists and sums never read it.
    await db.schema
      .createTable('generation_content')
      .addColumn('id', text, (column) => column.primaryKey().notNull().references('generations.id').onDelete('cascade'))
      .addColumn('content', json, (column) => column.notNull())
      .execute()
  },
}

import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const presets: Migration = {
  name: '0004-presets',
  up: async (db, { text, integer }) => {
    await db.schema
      .createTable('presets')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('slug', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('description', text)
      .addColumn('status', text, (column) => column.notNull().check(sql`status in ('active', 'disabled', 'archived')`))
      .addColumn('creator_user_id', text)
      .addColumn('designated_version_id', text, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('status_updated_at', integer)
      .addUniqueConstraint('presets_slug', ['workspace_id', 'slug'])
      .execute()

    // The content of a preset is in `sealed`, an envelope that only accounts/ can open, because its tools may carry credentials.
    await db.schema
      .createTable('preset_versions')
      .addColumn('id', text, (column) => column.primaryKey().notNull())
      .addColumn('preset_id', text, (column) => column.notNull().references('presets.id').onDelete('cascade'))
      .addColumn('version', integer, (column) => column.notNull())
      .addColumn('creator_id', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addUniqueConstraint('preset_versions_number', ['preset_id', 'version'])
      .execute()
  },
}

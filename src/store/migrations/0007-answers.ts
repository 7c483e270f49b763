import type { Migration } from './migration.ts'

export const answers: Migration = {
  name: '0007-answers',
  up: async (db, { text, integer }) => {
    // Kept answers. `key`: a digest of the request; `sealed`: an envelope that only accounts/ can open.
    await db.schema
      .createTable('kept_answers')
      .addColumn('key', text, (column) => column.primaryKey().notNull())
      .addColumn('workspace_id', text, (column) => column.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('bytes', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .execute()
    // Read to keep the total within its bound.
    await db.schema.createIndex('kept_answers_age').on('kept_answers').columns(['expires_at', 'bytes']).execute()
    await db.schema.createIndex('kept_answers_workspace').on('kept_answers').column('workspace_id').execute()
  },
}

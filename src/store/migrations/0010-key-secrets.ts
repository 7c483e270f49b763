import type { Migration } from './migration.ts'

export const keySecrets: Migration = {
  name: '0010-key-secrets',
  up: async (db, { json }) => {
    // Null: the key has one secret, the one its hash is of.
    await db.schema.alterTable('api_keys').addColumn('secrets', json).execute()
  },
}

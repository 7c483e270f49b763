import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const keyPages: Migration = {
  name: '0012-key-pages',
  up: async (db) => {
    // In the order of the list of keys. `disabled` is last: a page passes over the earlier ones without reading their rows.
    await sql`create index api_keys_listed on api_keys (workspace_id, kind, created_at, hash, disabled) where revoked_at is null`.execute(db)
  },
}

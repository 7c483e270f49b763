import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const keyUses: Migration = {
  name: '0008-key-uses',
  up: async (db, { text, integer }) => {
    // A table of its own: written every minute, while keys are read as a whole whenever one of them changes.
    await db.schema
      .createTable('key_uses')
      .addColumn('key_hash', text, (column) => column.notNull().references('api_keys.hash').onDelete('cascade'))
      .addColumn('secret_hash', text, (column) => column.notNull())
      .addColumn('used_at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('key_uses_key', ['key_hash', 'secret_hash'])
      .execute()
    // What is known of earlier uses, to the day: without it, every key would be shown as never used.
    await sql`
      insert into key_uses (key_hash, secret_hash, used_at)
      select hash, hash, day from api_keys join (select key_hash, max(day) as day from activity group by key_hash) used on used.key_hash = hash
    `.execute(db)
  },
}

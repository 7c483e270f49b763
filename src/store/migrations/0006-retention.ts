import type { Migration } from './migration.ts'

export const retention: Migration = {
  name: '0006-retention',
  up: async (db) => {
    // Finds expired periods by age among those of all keys.
    await db.schema.createIndex('spend_age').on('spend').column('period_start').execute()
  },
}

import type { Migration } from './migration.ts'

export const retention: Migration = {
  name: '0006-retention',
  up: async (db) => {
    // Periods that have ended are found by their age, among those of every key that ever spent.
    await db.schema.createIndex('spend_age').on('spend').column('period_start').execute()
  },
}

import type { Migration } from './migration.ts'

export const exactSums: Migration = {
  name: '0009-exact-sums',
  up: async (db, { real }) => {
    // What the sums beside them could not hold, so that rounding errors do not add up over many calls.
    for (const table of ['spend', 'activity'])
      for (const column of ['usd_rest', 'byok_usd_rest'])
        await db.schema
          .alterTable(table)
          .addColumn(column, real, (each) => each.notNull().defaultTo(0))
          .execute()
  },
}

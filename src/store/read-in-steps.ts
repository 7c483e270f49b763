import { setImmediate as turn } from 'node:timers/promises'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db, Tables } from './database.ts'

/** The part of a table that one statement reads: keys after one and up to another; undefined: to the end. */
export interface KeyRange {
  readonly after: string
  readonly last: string | undefined
}

export interface SteppedTable {
  readonly table: keyof Tables
  /** Its primary key, a text that is never empty. */
  readonly key: string
  /** Rows of one step, those that `read` leaves out included. */
  readonly rows: number
}

export const inRange = (key: string, { after, last }: KeyRange): RawBuilder<SqlBool> =>
  last === undefined ? sql`${sql.ref(key)} > ${after}` : sql`${sql.ref(key)} > ${after} and ${sql.ref(key)} <= ${last}`

/**
 * Reads a whole table along its primary key, with turns of the event loop in between: SQLite blocks the thread that serves calls. For copies of the
 * configuration, which are read again after every change of it. What changes meanwhile raises the version and is read then.
 * `onStep` is called after each step but the last.
 */
export async function readInSteps<Row>(
  db: Db,
  { table, key, rows }: SteppedTable,
  read: (range: KeyRange) => Promise<readonly Row[]>,
  onStep: () => void = () => undefined,
): Promise<Row[]> {
  const [from, column] = [sql.table(table), sql.ref(key)]
  const found: Row[] = []
  for (let after = ''; ;) {
    const end = await sql<{ readonly key: string }>`
      select ${column} as key from ${from} where ${column} > ${after} order by ${column} limit 1 offset ${rows - 1}`.execute(db)
    const last = end.rows[0]?.key
    for (const row of await read({ after, last })) found.push(row)
    if (last === undefined) return found
    after = last
    onStep()
    // Not in line with long tasks: behind a hundred of them a revoked key would stay in force for many seconds.
    await turn()
  }
}

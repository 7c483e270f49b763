import { CompiledQuery, type Insertable, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'

/** Rows of the longest statement. Databases limit bound values per statement (SQLite 32,766, PostgreSQL 65,535). */
const MAX_ROWS = 128
const MAX_VALUES = 30_000

/**
 * Inserts rows of one table many at a time; rows whose key exists are left unchanged. Building a statement costs as much as running it (13 against 7
 * microseconds a row on SQLite), so one is built per power of two: any batch is a few of them, and the database sees only a few shapes. With
 * `returning` it resolves with that column of the new rows.
 */
export function createBulkInsert<T extends keyof Tables>(
  db: Db,
  table: T,
  columns: readonly (keyof Tables[T] & string)[],
  returning?: keyof Tables[T] & string,
) {
  const statements = new Map<number, string>()
  const largest = 2 ** Math.floor(Math.log2(Math.min(MAX_ROWS, MAX_VALUES / columns.length)))

  const statement = (rows: number): string => {
    const known = statements.get(rows)
    if (known !== undefined) return known
    const row = Object.fromEntries(columns.map((column) => [column, '']))
    // Only the shape matters; values are bound when it runs.
    const shape = db.insertInto(table).values(Array.from({ length: rows }, () => row) as never)
    const { sql: insert } = shape.onConflict((conflict) => conflict.doNothing()).compile()
    const sql = returning === undefined ? insert : `${insert} returning "${returning}"`
    statements.set(rows, sql)
    return sql
  }

  return async (trx: Transaction<Tables>, rows: readonly Insertable<Tables[T]>[]): Promise<readonly string[]> => {
    const added: string[] = []
    let done = 0
    while (done < rows.length) {
      const length = Math.min(largest, 2 ** Math.floor(Math.log2(rows.length - done)))
      const values: unknown[] = []
      for (let i = done; i < done + length; i++) {
        const row = rows[i]! as { readonly [column: string]: unknown }
        for (const column of columns) values.push(row[column])
      }
      const result = await trx.executeQuery<{ readonly [column: string]: string }>(CompiledQuery.raw(statement(length), values))
      if (returning !== undefined) for (const row of result.rows) added.push(row[returning]!)
      done += length
    }
    return added
  }
}

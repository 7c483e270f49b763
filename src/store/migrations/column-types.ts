import { sql, type RawBuilder } from 'kysely'
import type { Engine } from '../database.ts'

/** Column types by meaning, so that one migration serves both databases. */
export interface ColumnTypes {
  /** Text of any length. */
  readonly text: RawBuilder<unknown>
  /** JSON as text: it is read and written whole, and text accepts what PostgreSQL's JSON types refuse (the escape \u0000). */
  readonly json: RawBuilder<unknown>
  /** Whole numbers to 2^53: milliseconds, tokens, counters. */
  readonly integer: RawBuilder<unknown>
  /** Double precision: money in USD. */
  readonly real: RawBuilder<unknown>
  readonly flag: RawBuilder<unknown>
  readonly blob: RawBuilder<unknown>
  /** The complete definition of a primary key that the database counts up. */
  readonly serial: RawBuilder<unknown>
}

export const COLUMN_TYPES: { readonly [E in Engine]: ColumnTypes } = {
  sqlite: {
    text: sql`text`,
    json: sql`text`,
    integer: sql`integer`,
    real: sql`real`,
    flag: sql`integer`,
    blob: sql`blob`,
    serial: sql`integer primary key autoincrement`,
  },
  postgres: {
    text: sql`text`,
    json: sql`text`,
    integer: sql`bigint`,
    real: sql`double precision`,
    flag: sql`boolean`,
    blob: sql`bytea`,
    serial: sql`bigint generated always as identity primary key`,
  },
}

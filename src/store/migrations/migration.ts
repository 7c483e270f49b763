import type { Transaction } from 'kysely'
import type { Tables } from '../database.ts'
import type { ColumnTypes } from './column-types.ts'

/**
 * One step of the schema, written once for both databases. A published step never changes; it only adds (expand), so that the
 * version before keeps working on the new schema while processes are replaced one by one. What it stops using a later release removes.
 */
export interface Migration {
  /** `NNNN-what`, the file's name: applied in the order of the list, remembered by this name. */
  readonly name: string
  /** Runs in a transaction that also remembers it. */
  readonly up: (db: Transaction<Tables>, columns: ColumnTypes) => Promise<void>
}

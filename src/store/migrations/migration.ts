import type { Transaction } from 'kysely'
import type { Tables } from '../database.ts'
import type { ColumnTypes } from './column-types.ts'

/**
 * One step of the schema, written once for both databases. A published step never changes. Steps only add (expand), so that the previous version
 * works with the new schema while processes are replaced one by one; a later release removes what is no longer used.
 */
export interface Migration {
  /** `NNNN-what`, the name of the file. Steps run in the order of the list and are remembered by name. */
  readonly name: string
  /** Runs in the transaction that also remembers it. */
  readonly up: (db: Transaction<Tables>, columns: ColumnTypes) => Promise<void>
}

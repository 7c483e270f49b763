import { sql } from 'kysely'
import type { Db, Engine } from './database.ts'

/**
 * Why records would be lost in this database, as a sentence for the operator: it has another encoding than UTF-8, which knows not all letters
 * that callers write. Undefined when nothing is.
 */
export async function encodingFault(db: Db, engine: Engine): Promise<string | undefined> {
  // SQLite has its own encoding in every file we make.
  if (engine === 'sqlite') return undefined
  const found = await sql<{ readonly server_encoding: string }>`show server_encoding`.execute(db)
  const encoding = found.rows[0]?.server_encoding
  if (encoding === undefined || encoding === 'UTF8') return undefined
  return (
    `The PostgreSQL database is in ${encoding}, in which records with letters it does not know are lost: ` +
    "use one that was made with: create database signalbox encoding 'UTF8' template template0"
  )
}

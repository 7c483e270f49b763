import { sql } from 'kysely'
import type { Db, Engine } from './database.ts'

/**
 * Why this database would lose records, as a sentence for the operator: its encoding is not UTF-8 and lacks characters that callers send. Undefined
 * if it would not.
 */
export async function encodingFault(db: Db, engine: Engine): Promise<string | undefined> {
  // SQLite files that we create are UTF-8.
  if (engine === 'sqlite') return undefined
  const found = await sql<{ readonly server_encoding: string }>`show server_encoding`.execute(db)
  const encoding = found.rows[0]?.server_encoding
  if (encoding === undefined || encoding === 'UTF8') return undefined
  return (
    `The PostgreSQL database is in ${encoding}, in which records with letters it does not know are lost: ` +
    "use one that was made with: create database signalbox encoding 'UTF8' template template0"
  )
}

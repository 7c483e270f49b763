import { sql, type Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'

/**
 * Which keys the latest changes of configuration concerned, so that a process that has read all keys reads only these. It is a fact and no column of the
 * keys: it needs no migration, and an earlier version of the program, which does not write it, is noticed by its changes of the version alone.
 */
const FACT = 'recent-key-changes'
/** More changes between two looks of a process make it read all keys. About twenty kilobytes, written with each change. */
const REMEMBERED = 256

interface RecentChanges {
  /** The version that the latest noted change made. Another one in the database was made by a program that notes nothing. */
  readonly version: number
  /** Changes up to this version are not known. */
  readonly since: number
  /** Versions and the hashes of the keys that they changed; oldest first. */
  readonly changes: readonly (readonly [version: number, hash: string])[]
}

/** Notes which keys the change that made this version has changed or removed. Belongs into the transaction of the change. */
export async function noteKeyChanges(trx: Transaction<Tables>, version: number, hashes: readonly string[] | 'unknown'): Promise<void> {
  const stored = await trx.selectFrom('facts').select('value').where('name', '=', FACT).executeTakeFirst()
  const value = JSON.stringify(next(stored && parse(stored.value), version, hashes))
  await trx
    .insertInto('facts')
    .values({ name: FACT, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

function next(before: RecentChanges | undefined, version: number, hashes: readonly string[] | 'unknown'): RecentChanges {
  if (hashes === 'unknown') return { version, since: version, changes: [] }
  const known = before?.version === version - 1 ? before : { since: version - 1, changes: [] }
  const changes = [...known.changes, ...hashes.map((hash) => [version, hash] as const)]
  const forgotten = changes.slice(0, -REMEMBERED).at(-1)
  return forgotten === undefined
    ? { version, since: known.since, changes }
    : { version, since: forgotten[0], changes: changes.slice(-REMEMBERED).filter(([at]) => at > forgotten[0]) }
}

interface ChangesSince {
  /** The version up to which these are all. */
  readonly version: number
  /** Hashes of the keys that changed or were removed. */
  readonly hashes: readonly string[]
  /** Whether every change was one of keys. */
  readonly onlyKeys: boolean
}

/** What changed after this version. Undefined if it cannot be told. */
export async function keysChangedSince(db: Db, seen: number): Promise<ChangesSince | undefined> {
  // One statement, so that both are of the same moment.
  const { rows } = await sql<{ readonly version: number; readonly value: string | null }>`
    select version, (select value from facts where name = ${FACT}) as value from config_version`.execute(db)
  const [row] = rows
  const recent = row?.value == null ? undefined : parse(row.value)
  if (row === undefined || recent === undefined || recent.version !== row.version || recent.since > seen || row.version < seen) return undefined
  const later = recent.changes.filter(([at]) => at > seen)
  const onlyKeys = new Set(later.map(([at]) => at)).size === row.version - seen
  return { version: row.version, hashes: [...new Set(later.map(([, hash]) => hash))], onlyKeys }
}

/** Undefined for what another version has written in another form. */
function parse(value: string): RecentChanges | undefined {
  try {
    const { version, since, changes } = JSON.parse(value) as Partial<RecentChanges>
    return typeof version === 'number' && typeof since === 'number' && Array.isArray(changes) ? { version, since, changes } : undefined
  } catch {
    return undefined
  }
}

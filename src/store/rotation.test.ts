import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import { DEFAULT_WORKSPACE_ID, type StoredOwnKey } from '../core/store.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import type { Database } from './database.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'

const ownKey = (id: string): Omit<StoredOwnKey, 'sortOrder'> => ({
  id,
  workspaceId: DEFAULT_WORKSPACE_ID,
  provider: 'acme',
  name: null,
  label: 'sk-...',
  sealed: `sbe1.old.${id}.secret`,
  disabled: false,
  isFallback: false,
  allowedModels: null,
  allowedKeyHashes: null,
  allowedUserIds: null,
  createdAt: 1,
  updatedAt: 1,
})
const toNewKey = (envelope: string): string => envelope.replace('.old.', '.new.')

const postgres = await findTestPostgres('a rotation of the secret key beside processes that write')
describe.skipIf(!postgres.available)('a rotation of the secret key', () => {
  if (!postgres.available) return
  let schema: TestSchema
  let database: Database
  let store: Awaited<ReturnType<typeof createStore>>
  beforeEach(async () => {
    schema = await postgres.createSchema()
    database = openDatabase({ url: schema.url, maxConnections: 2 })
    store = await createStore({ url: schema.url, maxConnections: 4 })
    await store.migrate()
    await store.workspaces.default()
    await store.facts.replace(SECRET_KEY_CANARY, undefined, `sbe1.old.canary.secret`)
  })
  afterEach(async () => {
    await store.close()
    await database.db.destroy()
    await schema.drop()
  })

  /** Holds what every change of configuration needs last, while `work` runs: whoever changes something has done the rest and waits. */
  const whileChangesWait = (work: () => Promise<void>): Promise<void> =>
    database.db.transaction().execute(async (trx) => {
      await sql`select version from config_version for update`.execute(trx)
      await work()
    })

  /** Until as many sessions as that use a table, in transactions that have not ended. */
  const untilUsedBy = (sessions: number, table: string) =>
    expect
      .poll(async () => {
        const { rows } = await sql<{ pids: number }>`
          select count(distinct pid) as pids from pg_locks where relation = ${table}::regclass`.execute(database.db)
        return rows[0]?.pids
      })
      .toBe(sessions)

  it('lets nobody write with the old key from the moment it has begun', async () => {
    await store.ownKeys.insert(ownKey('before'))
    let rotating: Promise<number> | undefined
    let writing: Promise<unknown> | undefined
    await whileChangesWait(async () => {
      rotating = store.rewrapSecrets(toNewKey)
      await untilUsedBy(2, 'config_version')
      writing = store.ownKeys.insert(ownKey('beside')).catch((error: unknown) => error)
      await untilUsedBy(2, 'facts')
    })
    expect(await rotating).toBe(2)
    expect(await writing).toMatchObject({ errorType: 'precondition_failed' })
    expect(await store.foreignSecrets('new')).toBe(0)
  })

  it('waits for who has begun to write with the old key, and changes what he wrote', async () => {
    let rotating: Promise<number> | undefined
    let writing: Promise<unknown> | undefined
    await whileChangesWait(async () => {
      writing = store.ownKeys.insert(ownKey('beside'))
      await untilUsedBy(2, 'config_version')
      rotating = store.rewrapSecrets(toNewKey)
      await untilUsedBy(2, 'facts')
    })
    expect(await writing).toMatchObject({ id: 'beside' })
    expect(await rotating).toBe(2)
    expect(await store.foreignSecrets('new')).toBe(0)
  })
})

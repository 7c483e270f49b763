import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID } from '../core/store.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import { NOW, sampleKey } from '../testing/sample-records.ts'
import type { Database } from './database.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'

const postgres = await findTestPostgres('changes of configuration by several processes at once')
describe.skipIf(!postgres.available)('changes of configuration in PostgreSQL', () => {
  if (!postgres.available) return
  let schema: TestSchema
  let database: Database
  let store: Awaited<ReturnType<typeof createStore>>
  beforeEach(async () => {
    schema = await postgres.createSchema()
    database = openDatabase({ url: schema.url, maxConnections: 1 })
    store = await createStore({ url: schema.url, maxConnections: 4 })
    await store.migrate()
    await store.workspaces.default()
  })
  afterEach(async () => {
    await store.close()
    await database.db.destroy()
    await schema.drop()
  })

  it('are serialised from their beginning, and so never deadlock', async () => {
    const hashes = ['ka', 'kb', 'kc']
    for (const hash of hashes) await store.keys.insert(sampleKey(hash))
    const guardrail = { id: 'g1', workspaceId: DEFAULT_WORKSPACE_ID, name: 'g1', description: null, rules: {}, createdAt: NOW, updatedAt: null }
    await store.guardrails.insert(guardrail)
    const assign = (...keyHashes: readonly string[]): Promise<void> =>
      store.guardrails.assign(keyHashes.map((keyHash) => ({ id: `on ${keyHash}`, guardrailId: 'g1', keyHash, assignedBy: null, createdAt: NOW })))
    await assign(...hashes)
    let both: Promise<unknown> | undefined
    await database.db.transaction().execute(async (trx) => {
      // Each has its first key, and waits here for the second.
      await sql`select key_hash from guardrail_keys where key_hash = 'kb' for update`.execute(trx)
      both = Promise.all([assign('ka', 'kb', 'kc'), assign('kc', 'kb', 'ka')]).catch((error: unknown) => error)
      await expect.poll(() => schema.waiting()).toBe(2)
    })
    expect(await both).toEqual([undefined, undefined])
  })
  it('are not read during the restore of a dump, most of which comes after the version', async () => {
    const version = await store.version()
    // As a dump is restored: rows first, and the keys of all tables behind them.
    await sql`alter table guardrail_keys rename to filled`.execute(database.db)
    await sql`create table guardrail_keys (like filled)`.execute(database.db)
    await expect(store.version()).rejects.toMatchObject({ errorType: 'provider_overloaded', cause: { message: 'the database is being restored' } })
    await sql`alter table guardrail_keys add primary key (key_hash)`.execute(database.db)
    expect(await store.version()).toBe(version)
  })
})

import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { keysChangedSince, noteKeyChanges } from './key-changes.ts'
import { createKeyStore } from './keys.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openDatabase } from './open-database.ts'
import { createWorkspaceStore } from './workspaces.ts'
import { systemClock } from '../lib/clock.ts'
import { sampleKey } from '../testing/sample-records.ts'

let database: Database
const versionNow = async (): Promise<number> => (await database.db.selectFrom('config_version').select('version').executeTakeFirstOrThrow()).version
beforeEach(async () => {
  database = openDatabase({ path: ':memory:' })
  await migrate(database, MIGRATIONS, systemClock)
  await createWorkspaceStore(database.db, systemClock).default()
})
afterEach(() => database.db.destroy())

it('does not know the changes of an earlier version of the program, nor those before them', async () => {
  const keys = createKeyStore(database.db)
  await keys.insert(sampleKey('a'))
  const seen = await versionNow()
  await sql`update api_keys set disabled = 1`.execute(database.db)
  await sql`update config_version set version = version + 1`.execute(database.db)
  expect(await keysChangedSince(database.db, seen)).toBeUndefined()
  const theirs = await versionNow()
  await keys.insert(sampleKey('b'))
  expect([await keysChangedSince(database.db, seen), await keysChangedSince(database.db, theirs)]).toEqual([
    undefined,
    { version: theirs + 1, hashes: ['b'], onlyKeys: true },
  ])
})

it('knows the last few hundred changes', async () => {
  const first = await versionNow()
  await database.db.transaction().execute(async (trx) => {
    for (let n = 1; n <= 300; n++) await noteKeyChanges(trx, first + n, [`k${n}`, 'often'])
    await sql`update config_version set version = version + 300`.execute(trx)
  })
  expect(await keysChangedSince(database.db, first + 171)).toBeUndefined()
  expect((await keysChangedSince(database.db, first + 298))?.hashes).toEqual(['k299', 'often', 'k300'])
  expect((await keysChangedSince(database.db, first + 172))?.hashes).toHaveLength(129)
})

it('tells nothing of what another version has written in another form', async () => {
  await sql`update facts set value = '{"version":"x"}' where name = 'recent-key-changes'`.execute(database.db)
  expect(await keysChangedSince(database.db, await versionNow())).toBeUndefined()
})

import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import type { Database } from './database.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { assertCurrentKey } from './secrets.ts'
import { inTransaction } from './transaction.ts'

const postgres = await findTestPostgres('a rotation of the secret key beside processes that write')
describe.skipIf(!postgres.available)('a rotation of the secret key', () => {
  if (!postgres.available) return
  let schema: TestSchema
  let database: Database
  let store: Awaited<ReturnType<typeof createStore>>
  beforeEach(async () => {
    schema = await postgres.createSchema()
    database = openDatabase({ url: schema.url, maxConnections: 2 })
    store = await createStore({ url: schema.url, maxConnections: 2 })
    await store.migrate()
    await store.facts.replace(SECRET_KEY_CANARY, undefined, 'sbe1.old.canary.secret')
  })
  afterEach(async () => {
    await store.close()
    await database.db.destroy()
    await schema.drop()
  })

  /** As whoever enters events does, who changes no configuration. */
  const saveKey = (id: string, whenSaved: () => Promise<unknown> = () => Promise.resolve()): Promise<void> =>
    inTransaction(database.db, async (trx) => {
      const sealed = `sbe1.old.${id}.secret`
      await assertCurrentKey(trx, sealed)
      await trx.insertInto('outbox_keys').values({ id, workspace_id: 'w1', sealed, created_at: 1 }).execute()
      await whenSaved()
    })
  const rotate = (): Promise<number> => store.rewrapSecrets((envelope) => envelope.replace('.old.', '.new.'))
  const untilWaiting = (sessions: number) => expect.poll(() => schema.waiting()).toBe(sessions)

  it('refuses writes with the old key from its beginning', async () => {
    await saveKey('before')
    let rotating: Promise<number> | undefined
    let saving: Promise<unknown> | undefined
    await database.db.transaction().execute(async (trx) => {
      // The last it comes to.
      await sql`select id from outbox_keys where id = 'before' for update`.execute(trx)
      rotating = rotate()
      await untilWaiting(1)
      saving = saveKey('beside').catch((error: unknown) => error)
      await Promise.race([saving, untilWaiting(2)])
    })
    expect(await rotating).toBe(2)
    expect(await saving).toMatchObject({ errorType: 'precondition_failed' })
    expect(await store.foreignSecrets('new')).toBe(0)
  })

  it('waits for a running write with the old key, and re-encrypts it', async () => {
    let rotating: Promise<number> | undefined
    await saveKey('beside', () => {
      rotating = rotate()
      return Promise.race([rotating, untilWaiting(1)])
    })
    expect(await rotating).toBe(2)
    expect(await store.foreignSecrets('new')).toBe(0)
  })
})

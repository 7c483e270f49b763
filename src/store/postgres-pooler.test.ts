import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findTestPostgres } from '../testing/postgres.ts'
import { startPooler } from '../testing/pgbouncer.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { inTransaction } from './transaction.ts'

const WHAT = 'a PostgreSQL behind a pooler in transaction mode'
const postgres = await findTestPostgres(WHAT)
const schema = postgres.available ? await postgres.createSchema() : undefined
const pooler = schema === undefined ? undefined : await startPooler(schema.url, WHAT)
// Nobody would afterwards: there is no test then.
if (pooler === undefined) await schema?.drop()
afterAll(async () => {
  await pooler?.close()
  await schema?.drop()
})

describe.skipIf(pooler === undefined)('a PostgreSQL behind a pooler with shared connections', () => {
  if (pooler === undefined) return
  const { url } = pooler
  let stores: Awaited<ReturnType<typeof createStore>>[]
  beforeEach(async () => {
    stores = [await createStore({ url }), await createStore({ url })]
    await stores[0]!.migrate()
    await stores[0]!.workspaces.default()
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
  })

  it('keeps what several processes write at the same time', async () => {
    const [one, other] = stores
    const count = 40
    await Promise.all(Array.from({ length: count }, (_, i) => stores[i % 2]!.keys.insert(sampleKey(`h${i}`))))
    expect(await other!.keys.list()).toHaveLength(count)
    expect(await one!.version()).toBe(await other!.version())
  })

  it('ends a statement that takes too long, and leaves no limit on the connection', async () => {
    const { db } = openDatabase({ url, statementLimitMs: 200 })
    try {
      await expect(inTransaction(db, (trx) => sql`select pg_sleep(5)`.execute(trx))).rejects.toMatchObject({ cause: { code: '57014' } })
    } finally {
      await db.destroy()
    }
    const stranger = new pg.Client({ connectionString: url.reveal() })
    await stranger.connect()
    try {
      for (let i = 0; i < 10; i++) expect((await stranger.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '0' }])
    } finally {
      await stranger.end()
    }
  })

  it('has one process clean up at a time, each in its turn', async () => {
    const [one, other] = stores
    for (let i = 0; i < 5; i++) {
      const inside = await one!.retention.exclusively(async () => {
        // So that the connection on which it was asked is somebody else's meanwhile.
        await Promise.all(Array.from({ length: 8 }, () => other!.version()))
        for (let j = 0; j < 5; j++) expect(await other!.retention.exclusively(() => Promise.reject(new Error('both at once')))).toBe(false)
      })
      expect(inside).toBe(true)
      expect(await other!.retention.exclusively(() => Promise.resolve())).toBe(true)
    }
  })
})

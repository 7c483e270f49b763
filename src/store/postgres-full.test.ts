import { describe, expect, it, vi } from 'vitest'
import { startPooler } from '../testing/pgbouncer.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { createStore } from './index.ts'

const postgres = await findTestPostgres('a PostgreSQL that has no room for more connections')

describe.skipIf(!postgres.available)('a store whose PostgreSQL has room for fewer connections than it asks for', () => {
  it('takes turns on those it has', async () => {
    if (!postgres.available) return
    const { url, drop } = await postgres.createNarrowDatabase(2)
    const store = await createStore({ url })
    try {
      await store.migrate()
      await store.workspaces.default()
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.keys.insert(sampleKey(`h${i}`))))
      expect(await Promise.all(Array.from({ length: 20 }, () => store.keys.list().then(({ length }) => length)))).toEqual(Array(20).fill(20))
    } finally {
      await store.close()
      await drop()
    }
  })

  it('leaves some to the other processes and threads that share them', async () => {
    if (!postgres.available) return
    const { url, drop } = await postgres.createNarrowDatabase(3)
    const [busy, other] = [await createStore({ url }), await createStore({ url })]
    try {
      await busy.migrate()
      await Promise.all(Array.from({ length: 20 }, () => busy.ping()))
      await vi.waitFor(() => other.ping(), { timeout: 2_000, interval: 20 })
      await Promise.all(Array.from({ length: 20 }, () => Promise.all([busy.ping(), other.ping()])))
    } finally {
      await busy.close()
      await other.close()
      await drop()
    }
  })

  it('shares them behind a pooler without free connections, too', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const pooler = await startPooler(schema.url, 'a pooler that has no room for more connections', 3)
    if (pooler === undefined) return schema.drop()
    const store = await createStore({ url: pooler.url })
    try {
      await store.migrate()
      await store.workspaces.default()
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.keys.insert(sampleKey(`h${i}`))))
      expect(await store.keys.list()).toHaveLength(20)
    } finally {
      await store.close()
      await pooler.close()
      await schema.drop()
    }
  })

  it('says so when it gets none', async () => {
    if (!postgres.available) return
    const { url, drop } = await postgres.createNarrowDatabase(0)
    const store = await createStore({ url })
    try {
      await expect(store.ping()).rejects.toMatchObject({ errorType: 'provider_overloaded', cause: { code: '53300' } })
    } finally {
      await store.close()
      await drop()
    }
  })
})

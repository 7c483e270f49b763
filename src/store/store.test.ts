import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { findTestPostgres } from '../testing/postgres.ts'
import { describePrivateStoreContract, describeStoreContract } from '../testing/store-contract.ts'
import { createStore } from './index.ts'

describePrivateStoreContract('sqlite in memory', async () => {
  const store = await createStore({ path: ':memory:' })
  return { store, dispose: () => store.close() }
})

for (const synchronous of ['normal', 'full'] as const) {
  describeStoreContract(`sqlite file, synchronous=${synchronous}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-store-'))
    const options = { path: join(folder, 'signalbox.db'), synchronous }
    const store = await createStore(options)
    return {
      store,
      openAnother: () => createStore(options),
      dispose: async () => {
        await store.close()
        await rm(folder, { recursive: true })
      },
    }
  })
}

const postgres = await findTestPostgres('the store contract over PostgreSQL')
describe.skipIf(!postgres.available)('postgres', () => {
  if (!postgres.available) return
  describeStoreContract('postgres', async () => {
    const schema = await postgres.createSchema()
    const store = await createStore({ url: schema.url, maxConnections: 4 })
    return {
      store,
      openAnother: () => createStore({ url: schema.url }),
      dispose: async () => {
        await store.close()
        await schema.drop()
      },
    }
  })
})

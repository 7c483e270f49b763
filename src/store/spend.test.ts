import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { findTestPostgres } from '../testing/postgres.ts'
import { describeSpendContract } from '../testing/spend-contract.ts'
import { createStore } from './index.ts'

describeSpendContract('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-spend-'))
  const options = { path: join(folder, 'signalbox.db') }
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

const postgres = await findTestPostgres('the spend contract over PostgreSQL')
describe.skipIf(!postgres.available)('postgres', () => {
  if (!postgres.available) return
  describeSpendContract('postgres', async () => {
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

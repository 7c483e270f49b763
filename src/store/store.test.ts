import { describeOnPostgres, openInFile } from '../testing/both-engines.ts'
import { describePrivateStoreContract, describeStoreContract } from '../testing/store-contract.ts'
import { createStore } from './index.ts'

describePrivateStoreContract('sqlite in memory', async () => {
  const store = await createStore({ path: ':memory:' })
  return { store, dispose: () => store.close() }
})

for (const synchronous of ['normal', 'full'] as const)
  describeStoreContract(`sqlite file, synchronous=${synchronous}`, () => openInFile((path) => createStore({ path, synchronous })))

await describeOnPostgres('the store contract', createStore, describeStoreContract)

import { expect, it } from 'vitest'
import { describeOnBothEngines, openInFile } from '../testing/both-engines.ts'
import { sampleGeneration } from '../testing/sample-records.ts'
import { describeSpendContract } from '../testing/spend-contract.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { createSpendStore } from './spend.ts'

await describeOnBothEngines('the spend contract', createStore, describeSpendContract)

it('the activity report is complete or refused with what to request instead', async () => {
  let path = ''
  const { store, dispose } = await openInFile((file) => createStore({ path: (path = file) }))
  await store.migrate()
  await store.generations.insertMany(
    ['w1', 'w2', 'w3'].map((workspaceId) => ({ generation: sampleGeneration(`of ${workspaceId}`, { workspaceId, endedAt: 1_000 }) })),
  )
  const { db, engine } = openDatabase({ path })
  const spend = createSpendStore(db, engine, { reportRows: 2 })
  await expect(spend.activity({ from: 0, to: 2_000 })).rejects.toMatchObject({
    errorType: 'invalid_request',
    message: 'The report would have more than 2 rows; ask for one date, workspace_id or api_key_hash',
  })
  expect(await spend.activity({ from: 0, to: 2_000, acrossWorkspaces: true })).toMatchObject([{ requests: 3 }])
  await db.destroy()
  await dispose()
})

it('what was spent is known before the migration that adds what sums cannot hold, which may have to wait', async () => {
  let path = ''
  const { store, dispose } = await openInFile((file) => createStore({ path: (path = file) }))
  await store.migrate()
  await store.generations.insertMany([{ generation: sampleGeneration('one', { endedAt: 1_000 }) }])
  const { usd, byokUsd } = await store.spend.of('installation', 1_000)
  expect(usd.lifetime).toBeGreaterThan(0)
  const { db } = openDatabase({ path })
  for (const column of ['usd_rest', 'byok_usd_rest']) await db.schema.alterTable('spend').dropColumn(column).execute()
  await db.destroy()
  expect(await store.spend.of('installation', 1_000)).toEqual({ usd, byokUsd })
  await dispose()
})

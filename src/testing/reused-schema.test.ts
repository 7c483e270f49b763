import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createStore } from '../store/index.ts'
import { findTestPostgres } from './postgres.ts'
import { reuseSchemas } from './reused-schema.ts'
import { sampleKey, sampleWorkspace } from './sample-records.ts'

const postgres = await findTestPostgres('the schemas that tests share')
describe.skipIf(!postgres.available)('a schema that the next test gets', () => {
  if (!postgres.available) return
  const take = reuseSchemas(postgres, createStore)

  it('is the same, and as empty as after a first migration', async () => {
    const first = await take()
    const before = await createStore({ url: first.url })
    expect(await before.pendingMigrations()).toEqual([])
    await before.workspaces.insert(sampleWorkspace('w1'))
    await before.keys.insert(sampleKey('h1', { workspaceId: 'w1' }))
    expect(await before.version()).toBeGreaterThan(1)
    await before.close()
    await first.drop()

    const second = await take()
    expect(second.url.reveal()).toBe(first.url.reveal())
    const after = await createStore({ url: second.url })
    expect(await after.workspaces.list()).toEqual([])
    expect(await after.keys.list()).toEqual([])
    expect(await after.version()).toBe(1)
    await after.close()
    await second.drop()
  })

  it('is a new one while another test has the first', async () => {
    const [first, second] = [await take(), await take()]
    expect(second.url.reveal()).not.toBe(first.url.reveal())
    await first.drop()
    await second.drop()
  })

  it.each([
    'drop table facts cascade',
    'create table more (id int)',
    'alter table facts add column more int',
    'create index more on facts (value)',
    'alter table api_keys drop constraint api_keys_workspace_id_fkey',
  ])('is a new one after: %s', async (statement) => {
    const first = await take()
    const client = new pg.Client({ connectionString: first.url.reveal() })
    await client.connect()
    await client.query(statement)
    await client.end()
    await first.drop()

    const second = await take()
    expect(second.url.reveal()).not.toBe(first.url.reveal())
    await second.drop()
  })
})

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Store } from '../core/store.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { sampleContent, sampleGeneration } from '../testing/sample-records.ts'
import { createStore } from './index.ts'

/** What the guide tells operators to run where something of one caller is to be deleted. */
const guide = await readFile(new URL('../../docs/guides/operations.md', import.meta.url), 'utf8')
const statements = /```sql\n([^`]+)```/.exec(guide)![1]!
const forPostgres = /For PostgreSQL[^`]*`begin`[^`]*`([^`]+)`/.exec(guide)![1]!

/** Callers may write what no text column of PostgreSQL takes; records hold it as an escape. */
async function fill(store: Store): Promise<void> {
  await store.migrate()
  await store.workspaces.default()
  const users = ['user-1', 'user-2']
  await store.generations.insertMany(
    users.map((externalUser) => ({
      generation: sampleGeneration(`gen-${externalUser}`, { externalUser, metadata: { note: 'a\0b', path: 'c:\\u0000' } }),
      content: sampleContent,
    })),
  )
}

async function expectDeleted(store: Store): Promise<void> {
  expect([await store.generations.get('gen-user-1'), await store.generations.content('gen-user-1')]).toEqual([undefined, undefined])
  expect((await store.generations.get('gen-user-2'))?.externalUser).toBe('user-2')
}

const postgres = await findTestPostgres('deleting by hand on PostgreSQL')

describe('the statements of the guide delete what is stored about one caller', () => {
  it('from SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-delete-'))
    const path = join(folder, 'signalbox.db')
    const store = await createStore({ path })
    await fill(store)
    const shell = new DatabaseSync(path)
    shell.exec(statements)
    shell.close()
    await expectDeleted(store)
    await store.close()
    await rm(folder, { recursive: true })
  })

  it.skipIf(!postgres.available)('from PostgreSQL', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const store = await createStore({ url: schema.url })
    await fill(store)
    const shell = new pg.Client({ connectionString: schema.url.reveal() })
    await shell.connect()
    const [, ...rest] = statements.split('\n')
    await shell.query(
      rest
        .join('\n')
        .replace('begin immediate', 'begin')
        .replace("record ->> 'externalUser'", () => forPostgres),
    )
    await shell.end()
    await expectDeleted(store)
    await store.close()
    await schema.drop()
  })
})

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createEncryption, verifySecretKey } from '../accounts/encryption.ts'
import type { Encryption } from '../core/account.ts'
import type { Store } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { sampleContent, sampleDestination, sampleEntry, sampleGeneration, sampleKey } from '../testing/sample-records.ts'
import { createStore } from './index.ts'

/** What the guide tells operators to run in the database: to forget secrets whose key is lost, and to delete something of one caller. */
const guide = await readFile(new URL('../../docs/guides/operations.md', import.meta.url), 'utf8')
const [forgetSecrets, statements] = [...guide.matchAll(/```sql\n([^`]+)```/g)].map(([, text]) => text!) as [string, string]
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

describe('the statements of the guide forget what a lost secret key has encrypted, and nothing else', () => {
  const [lost, next] = [1, 2].map((byte) => createEncryption({ current: Buffer.alloc(32, byte) })) as [Encryption, Encryption]
  async function fillEncrypted(store: Store): Promise<void> {
    await fill(store)
    await store.keys.insert(sampleKey('h1'))
    await verifySecretKey(lost, store.facts)
    await store.destinations.insert(sampleDestination('d1', { sealed: lost.seal(new Secret('{}'), 'destination:d1:webhook') }), 5)
    await store.outbox(lost).record([sampleEntry('gen-waiting', ['d1'])])
    await expect(verifySecretKey(next, store.facts)).rejects.toThrow('is not the one')
    expect(await store.foreignSecrets(next.keyId)).toBeGreaterThan(1)
  }
  async function expectForgotten(store: Store): Promise<void> {
    await verifySecretKey(next, store.facts)
    expect(await store.foreignSecrets(next.keyId)).toBe(0)
    expect(await store.keys.list()).toHaveLength(1)
    expect(await store.generations.get('gen-waiting')).toBeDefined()
  }

  it('in SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-forget-'))
    const path = join(folder, 'signalbox.db')
    const store = await createStore({ path })
    await fillEncrypted(store)
    const shell = new DatabaseSync(path)
    shell.exec(forgetSecrets)
    shell.close()
    await expectForgotten(store)
    await store.close()
    await rm(folder, { recursive: true })
  })

  it.skipIf(!postgres.available)('in PostgreSQL', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const store = await createStore({ url: schema.url })
    await fillEncrypted(store)
    const shell = new pg.Client({ connectionString: schema.url.reveal() })
    await shell.connect()
    await shell.query(forgetSecrets.split('\n').slice(1).join('\n'))
    await shell.end()
    await expectForgotten(store)
    await store.close()
    await schema.drop()
  })
})

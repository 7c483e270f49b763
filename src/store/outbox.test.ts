import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import { Secret } from '../lib/secret.ts'
import { createMemoryOutbox } from '../testing/memory-outbox.ts'
import { describeDurableOutboxContract } from '../testing/durable-outbox-contract.ts'
import { describeOutboxContract } from '../testing/outbox-contract.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { reuseSchemas } from '../testing/reused-schema.ts'
import { sampleContent, sampleDestination, sampleEntry } from '../testing/sample-records.ts'
import { createStore, type StoreOptions } from './index.ts'

const encryption = createEncryption({ current: Buffer.alloc(32, 7) })

function describeDatabase(name: string, place: () => Promise<{ readonly options: StoreOptions; readonly dispose: () => Promise<void> }>): void {
  const describeOutbox = (variant: string, more: Partial<StoreOptions>): void =>
    describeOutboxContract(variant, async (clock) => {
      const { options, dispose } = await place()
      const store = await createStore({ ...options, ...more, clock })
      await store.migrate()
      await store.workspaces.default()
      return {
        outbox: store.outbox(encryption),
        addDestination: (id) => store.destinations.insert(sampleDestination(id), 100),
        dispose: async () => {
          await store.close()
          await dispose()
        },
      }
    })
  describeOutbox(`${name}, as entered a moment ago`, {})
  describeOutbox(`${name}, as after a restart`, { recentBytes: 0 })
  describeDurableOutboxContract(name, async (clock) => {
    const { options, dispose } = await place()
    const store = await createStore({ ...options, clock })
    return {
      store,
      openAnother: () => createStore({ ...options, clock }),
      encryption,
      dispose: async () => {
        await store.close()
        await dispose()
      },
    }
  })
}

describeOutboxContract('memory', async (clock) => ({
  outbox: createMemoryOutbox(() => clock.now()),
  addDestination: () => Promise.resolve(),
  dispose: () => Promise.resolve(),
}))

describeDatabase('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-outbox-'))
  return { options: { path: join(folder, 'signalbox.db') }, dispose: () => rm(folder, { recursive: true }) }
})

const postgres = await findTestPostgres('the outbox contract over PostgreSQL')
describe.skipIf(!postgres.available)('postgres', () => {
  if (!postgres.available) return
  const schemas = reuseSchemas(postgres, createStore)
  describeDatabase('postgres', async () => {
    const schema = await schemas()
    return { options: { url: schema.url, maxConnections: 4 }, dispose: () => schema.drop() }
  })
})

describe('the outbox on disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-outbox-'))
  const path = join(folder, 'signalbox.db')
  afterAll(() => rm(folder, { recursive: true }))

  it('contains no plain text of content, only encrypted keys, and nothing of settled deliveries', async () => {
    const store = await createStore({ path })
    await store.migrate()
    await store.workspaces.default()
    await store.destinations.insert(sampleDestination('d1'), 5)
    const outbox = store.outbox(encryption)
    await outbox.record([sampleEntry('gen-1', ['d1'], { content: JSON.stringify({ ...sampleContent, instructions: 'canary-instruction' }) })])
    const database = new DatabaseSync(path, { readOnly: true })
    const rows = (table: string) => database.prepare(`select * from ${table}`).all()
    const [content] = rows('outbox_contents')
    expect(Buffer.from(content!['body'] as Uint8Array).toString('latin1')).not.toContain('canary')
    expect(rows('outbox_keys')[0]!['sealed']).toMatch(/^sbe1\./)
    const [leased] = await outbox.lease('d1', { owner: 'o', records: 1, bytes: 1, now: Date.now(), leaseMs: 1_000 })
    await outbox.settle('o', [{ id: leased!.id, state: 'delivered' }])
    expect(rows('outbox_contents')).toEqual([])
    expect(rows('outbox_deliveries')).toEqual([])
    database.close()
    await store.close()
  })

  it('decrypts content for its own generation only', async () => {
    const store = await createStore({ path })
    const outbox = store.outbox(encryption)
    await outbox.record([sampleEntry('gen-a', ['d1']), sampleEntry('gen-b', ['d1'])])
    const database = new DatabaseSync(path)
    database.exec("update outbox_contents set body = (select body from outbox_contents where id = 'gen-b') where id = 'gen-a'")
    database.close()
    const leased = await store.outbox(encryption).lease('d1', { owner: 'o', records: 9, bytes: 1_000_000, now: Date.now(), leaseMs: 1_000 })
    expect(leased.map(({ generation, content }) => [generation.id, content !== undefined])).toEqual([
      ['gen-a', false],
      ['gen-b', true],
    ])
    await store.close()
  })

  it('follows a new master key, and refuses to seal with the old one afterwards', async () => {
    const store = await createStore({ path })
    await store.facts.replace('secret-key-canary', undefined, encryption.seal(new Secret('secret-key-canary'), 'secret-key-canary'))
    const next = createEncryption({ current: Buffer.alloc(32, 8), previous: [Buffer.alloc(32, 7)] })
    expect(await store.rewrapSecrets((envelope, context) => next.rewrap(envelope, context))).toBe(2)
    const onlyNew = createEncryption({ current: Buffer.alloc(32, 8) })
    const leased = await store.outbox(onlyNew).lease('d1', { owner: 'p', records: 9, bytes: 1_000_000, now: Date.now() + 5_000, leaseMs: 1_000 })
    expect(leased.some(({ content }) => content !== undefined)).toBe(true)
    const stale = sampleDestination('d2', { sealed: encryption.seal(new Secret('{}'), 'destination:d2:webhook') })
    await expect(store.destinations.insert(stale, 5)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    await store.close()
  })
})

import { inspect } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import { DEFAULT_WORKSPACE_ID } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'
import { createNetwork, type Network } from '../testing/network.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import { sampleDestination, sampleEntry, sampleGeneration, sampleKey } from '../testing/sample-records.ts'
import { readVersion } from './config-version.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { listenForChanges } from './postgres-listen.ts'
import { inTransaction } from './transaction.ts'

const postgres = await findTestPostgres('the faults of a PostgreSQL database')
describe.skipIf(!postgres.available)('a store whose PostgreSQL', () => {
  if (!postgres.available) return
  let schema: TestSchema
  let network: Network
  let store: Awaited<ReturnType<typeof createStore>>
  beforeEach(async () => {
    schema = await postgres.createSchema()
    network = await createNetwork(schema.url)
    store = await createStore({ url: network.url, maxConnections: 2, connectLimitMs: 200, statementLimitMs: 200 })
  })
  afterEach(async () => {
    network.cut()
    await store.close()
    await network.close()
    await schema.drop()
  })

  it('is away at the start opens all the same, and works once it is there', async () => {
    network.cut()
    const started = performance.now()
    await expect(store.migrate()).rejects.toMatchObject({ errorType: 'provider_overloaded', status: 503 })
    expect(performance.now() - started).toBeLessThan(2_000)
    network.repair()
    await store.migrate()
    expect(await store.version()).toBe(1)
  })

  it.each([
    ['delivers meanwhile', `select * from outbox_deliveries where generation_id = 'gen-1' for update`],
    ['breaks a deadlock', 'select * from destinations for update'],
  ])('%s deletes a destination all the same', async (_what, alsoLocked) => {
    const patient = await createStore({ url: schema.url })
    const worker = new pg.Client({ connectionString: schema.url.reveal() })
    await worker.connect()
    try {
      await patient.migrate()
      await patient.workspaces.default()
      await patient.destinations.insert(sampleDestination('d'), 5)
      const outbox = patient.outbox(createEncryption({ current: Buffer.alloc(32, 1) }))
      await outbox.record([sampleEntry('gen-1', ['d']), sampleEntry('gen-2', ['d'])])
      await worker.query('begin')
      await worker.query(`select * from outbox_deliveries where generation_id = 'gen-2' for update`)
      const removed = patient.destinations.remove('d', DEFAULT_WORKSPACE_ID)
      const waits = 'select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
      await expect.poll(async () => (await worker.query(waits)).rows.length).toBe(1)
      await worker.query(alsoLocked)
      await worker.query('commit')
      expect(await removed).toBe(true)
      expect((await worker.query('select * from outbox_deliveries')).rows).toEqual([])
    } finally {
      await worker.end()
      await patient.close()
    }
  })

  it('is read-only is reported as such when it is asked whether it takes writes, although it answers', async () => {
    await store.migrate()
    await store.proveWritable()
    const readOnly = new URL(schema.url.reveal())
    readOnly.searchParams.set('options', `${readOnly.searchParams.get('options')} -c default_transaction_read_only=on`)
    const replica = await createStore({ url: new Secret(readOnly.toString()), maxConnections: 1 })
    try {
      await replica.ping()
      await expect(replica.proveWritable()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    } finally {
      await replica.close()
    }
  })

  it('notifies listeners of a change at once, including their own, and of possibly missed ones when it is back', async () => {
    await store.migrate()
    const other = await createStore({ url: schema.url, maxConnections: 1 })
    const elsewhere = await postgres.createSchema()
    const stranger = await createStore({ url: elsewhere.url, maxConnections: 1 })
    let heard = 0
    const watch = store.watch(() => heard++)
    try {
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(1)
      await stranger.migrate()
      await stranger.workspaces.default()
      await other.workspaces.default()
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(2)
      await store.keys.insert(sampleKey('h1'))
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(3)
      network.cut()
      await other.keys.insert(sampleKey('h2'))
      network.repair()
      await expect.poll(() => heard, { timeout: 10_000 }).toBe(4)
      await other.keys.insert(sampleKey('h3'))
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(5)
    } finally {
      await watch.close()
      await other.close()
      await stranger.close()
      await elsewhere.drop()
    }
  })

  it('sends no notifications because the network has dropped the connection is reconnected', async () => {
    await store.migrate()
    const other = await createStore({ url: schema.url, maxConnections: 1 })
    let heard = 0
    const listening = listenForChanges(network.url, () => heard++, { everyMs: 100, limitMs: 300 })
    try {
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(1)
      network.forget()
      await other.workspaces.default()
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(2)
      await other.keys.insert(sampleKey('h1'))
      await expect.poll(() => heard, { timeout: 5_000 }).toBe(3)
    } finally {
      await listening.close()
      await other.close()
    }
  })

  it('has lost all connections to the network is queried over new ones as soon as one query got no answer', async () => {
    await store.close()
    store = await createStore({ url: network.url, maxConnections: 4 })
    await store.migrate()
    await store.workspaces.default()
    const other = await createStore({ url: schema.url, maxConnections: 1 })
    try {
      // All of the pool is open.
      await Promise.all(Array.from({ length: 4 }, () => store.keys.list()))
      network.forget()
      await other.keys.insert(sampleKey('h1'))
      const started = performance.now()
      await expect(store.version()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
      expect(await store.version()).toBe(await other.version())
      const lists = await Promise.all(Array.from({ length: 4 }, () => store.keys.list()))
      expect(lists.map(({ length }) => length)).toEqual([1, 1, 1, 1])
      // A statement may take ten seconds otherwise.
      expect(performance.now() - started).toBeLessThan(8_000)
    } finally {
      await other.close()
    }
  })

  it('is cut off in the middle fails what runs, and works again at once when it is back', async () => {
    await store.migrate()
    await store.workspaces.default()
    network.cut()
    await expect(store.keys.list()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    network.repair()
    await store.keys.insert(sampleKey('h1'))
    expect(await store.keys.list()).toHaveLength(1)
  })

  it('loses connections costs transactions one begin, and no extra statement each', async () => {
    await store.migrate()
    await store.workspaces.default()
    // As many connections as come to be used at once.
    await Promise.all(Array.from({ length: 6 }, (_, n) => store.generations.insertMany([{ generation: sampleGeneration(`gen-${n}`) }])))
    network.forget()
    const started = performance.now()
    const batch = [{ generation: sampleGeneration('gen-after') }]
    await expect(store.generations.insertMany(batch)).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    await store.generations.insertMany(batch)
    expect(performance.now() - started).toBeLessThan(3_900)
    expect(await store.generations.get('gen-after')).toBeDefined()
  })

  it('falls silent keeps nobody waiting beyond the limits, and leaves no stuck connection in the pool', async () => {
    await store.migrate()
    await store.workspaces.default()
    network.silence()
    const started = performance.now()
    const results = await Promise.allSettled([
      store.ping(),
      store.keys.list(),
      store.generations.insertMany([{ generation: sampleGeneration('gen-1') }]),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(performance.now() - started).toBeLessThan(6_000)
    network.repair()
    await store.generations.insertMany([{ generation: sampleGeneration('gen-1') }])
    expect(await store.generations.get('gen-1')).toBeDefined()
  })

  it('takes no writes over a connection made before a failover is asked over a new one', async () => {
    const { db } = openDatabase({ url: schema.url, maxConnections: 1 })
    try {
      await sql`create table notes (note text)`.execute(db)
      // What a server that is no longer the first does to every session.
      await sql`set session characteristics as transaction read only`.execute(db)
      await expect(inTransaction(db, (trx) => sql`insert into notes values ('a')`.execute(trx))).rejects.toMatchObject({
        errorType: 'provider_overloaded',
      })
      await inTransaction(db, (trx) => sql`insert into notes values ('b')`.execute(trx))
      expect((await sql`select note from notes`.execute(db)).rows).toEqual([{ note: 'b' }])
    } finally {
      await db.destroy()
    }
  })

  it('is no longer the primary is queried over new connections by readers, because the new primary may have other changes', async () => {
    await store.migrate()
    const { db } = openDatabase({ url: schema.url, maxConnections: 2 })
    const clock = { monotonic: () => performance.now(), note: () => undefined }
    const both = (statement: string) =>
      Promise.all([1, 2].map(() => db.transaction().execute(async (trx) => (await sql.raw<Record<string, string>>(statement).execute(trx)).rows[0])))
    try {
      await both('set session characteristics as transaction read only')
      expect(await readVersion(db, clock)).toBe(await store.version())
      expect(await both('show transaction_read_only')).toEqual([{ transaction_read_only: 'off' }, { transaction_read_only: 'off' }])
      // Where there is no other, new connections are not made with each look.
      await both('set session characteristics as transaction read only')
      await readVersion(db, clock)
      expect(await both('show transaction_read_only')).toEqual([{ transaction_read_only: 'on' }, { transaction_read_only: 'on' }])
    } finally {
      await db.destroy()
    }
  })

  it('is no longer the primary is listened to over a new connection, and then read again', async () => {
    const url = new URL(schema.url.reveal())
    url.searchParams.set('options', `${url.searchParams.get('options')} -c default_transaction_read_only=on`)
    let told = 0
    const listening = listenForChanges(new Secret(url.href), () => void told++, { everyMs: 20, limitMs: 1_000 })
    await expect.poll(() => told, { timeout: 10_000 }).toBeGreaterThan(2)
    await listening.close()
  })

  it.each([
    ['a stricter isolation', 'default_transaction_isolation=serializable'],
    ['a short wait for locks', 'lock_timeout=1ms'],
  ])('has %s as its default fails no concurrent changes', async (_, setting) => {
    await store.migrate()
    await store.workspaces.default()
    const url = new URL(schema.url.reveal())
    url.searchParams.set('options', `${url.searchParams.get('options')} -c ${setting}`)
    const strict = await createStore({ url: new Secret(url.href) })
    try {
      await Promise.all(Array.from({ length: 20 }, (_, i) => strict.keys.insert(sampleKey(`h${i}`))))
      expect(await strict.keys.list()).toHaveLength(20)
    } finally {
      await strict.close()
    }
  })

  it('keeps a table locked collects no waiting queries that are repeated', async () => {
    await store.migrate()
    const { db } = openDatabase({ url: schema.url, maxConnections: 1 })
    try {
      await inTransaction(db, async (trx) => {
        await sql`lock table config_version in access exclusive mode`.execute(trx)
        const patient = await createStore({ url: schema.url, maxConnections: 2 })
        try {
          await expect(patient.version()).rejects.toMatchObject({ errorType: 'provider_overloaded', cause: { code: '57014' } })
          expect(await schema.waiting()).toBe(0)
        } finally {
          await patient.close()
        }
      })
      expect(await store.version()).toBe(1)
    } finally {
      await db.destroy()
    }
  })

  it('takes few rows at a time strips and deletes a long queue in steps', async () => {
    await store.migrate()
    await store.workspaces.default()
    const patient = await createStore({ url: schema.url, maxConnections: 1 })
    const { db } = openDatabase({ url: schema.url, maxConnections: 1 })
    try {
      await patient.destinations.insert(sampleDestination('d1'), 5)
      await sql`insert into outbox_deliveries (generation_id, destination_id, entered_at, due_at, attempts, bytes, content_bytes)
        select 'gen-' || n, 'd1', 1, 1, 0, 10, 5 from generate_series(1, 5000) n`.execute(db)
      await sql`insert into outbox_contents (id, key_id, body) select 'gen-' || n, 'key', '' from generate_series(1, 5000) n`.execute(db)
      await sql`create function refuse() returns trigger language plpgsql as $$ begin
        if (select count(*) from gone) > 2000 then raise 'too many rows at once'; end if; return null; end $$`.execute(db)
      for (const [event, table] of [
        ['update', 'deliveries'],
        ['delete', 'deliveries'],
        ['delete', 'contents'],
      ])
        await sql
          .raw(
            `create trigger few_${event} after ${event} on outbox_${table} referencing old table as gone for each statement execute function refuse()`,
          )
          .execute(db)
      const left = async () =>
        (await sql`select (select count(*) from outbox_deliveries) as deliveries, (select count(*) from outbox_contents) as contents`.execute(db))
          .rows
      await patient.destinations.update('d1', DEFAULT_WORKSPACE_ID, { privacyMode: true }, 1)
      expect(await left()).toEqual([{ deliveries: 5000, contents: 0 }])
      expect(await patient.destinations.remove('d1', DEFAULT_WORKSPACE_ID)).toBe(true)
      expect(await left()).toEqual([{ deliveries: 0, contents: 0 }])
    } finally {
      await patient.close()
      await db.destroy()
    }
  })

  it.each(['postgres://box@/box?host=%2Fnowhere&port=7', 'postgres:///box?host=%2Fnowhere&port=7', 'postgres://box@%2Fnowhere:7/box'])(
    'is behind a Unix socket is found there: %s',
    async (url) => {
      const behind = await createStore({ url: new Secret(url) })
      try {
        await expect(behind.ping()).rejects.toMatchObject({ cause: { message: expect.stringContaining('/nowhere/.s.PGSQL.7') } })
      } finally {
        await behind.close()
      }
    },
  )

  it('refuses the password never shows it', async () => {
    const url = new URL(schema.url.reveal())
    url.username = 'nobody_of_that_name'
    url.password = 'canary-password'
    const refused = await createStore({ url: new Secret(url.toString()), connectLimitMs: 2_000 })
    const error: unknown = await refused.ping().catch((reason: unknown) => reason)
    await refused.close()
    expect(error).toMatchObject({ errorType: 'provider_overloaded' })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary-password')
  })

  it('refuses a row never shows the row', async () => {
    await store.migrate()
    const broken = sampleGeneration('gen-1', { status: null as never, metadata: { text: 'canary-text' } })
    const error: unknown = await store.generations.insertMany([{ generation: broken }]).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ errorType: 'server' })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary-text')
  })

  it('accepts bytes and never answers does not delay the end of a process', async () => {
    await store.migrate()
    const told = Promise.withResolvers<void>()
    const watch = store.watch(() => told.resolve())
    await told.promise
    network.silence()
    const started = performance.now()
    await watch.close()
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

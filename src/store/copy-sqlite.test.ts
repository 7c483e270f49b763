import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import { sampleContent, sampleDestination, sampleEntry, sampleGeneration, sampleKey } from '../testing/sample-records.ts'
import { COPIED_TABLES, copySqlite } from './copy-sqlite.ts'
import type { Database } from './database.ts'
import { createStore } from './index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openDatabase } from './open-database.ts'

const postgres = await findTestPostgres('the copy of an SQLite database')
const encryption = createEncryption({ current: Buffer.alloc(32, 1) })

/** All rows of a table in one form for both databases, without the numbers that each counts up by itself. */
async function rowsOf({ db }: Database, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly [column: string]: unknown }>`select * from ${sql.table(table)}`.execute(db)
  const plain = (value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : typeof value === 'boolean' ? Number(value) : value
  return rows
    .map(({ seq: _seq, ...row }) =>
      JSON.stringify(
        Object.entries(row)
          .map(([name, value]) => [name, plain(value)])
          .toSorted(),
      ),
    )
    .toSorted()
}

describe.skipIf(!postgres.available)('the copy of an SQLite database into PostgreSQL', { timeout: 60_000 }, () => {
  let folder: string
  let path: string
  let schema: TestSchema
  let target: Database
  beforeEach(async () => {
    if (!postgres.available) return
    folder = await mkdtemp(join(tmpdir(), 'signalbox-copy-'))
    path = join(folder, 'signalbox.db')
    schema = await postgres.createSchema()
    target = openDatabase({ url: schema.url })
  })
  afterEach(async () => {
    await target.db.destroy()
    await schema.drop()
    await rm(folder, { recursive: true })
  })
  /** The source, open for a moment: the copy wants it for itself. */
  const withSource = async <T>(use: (source: Database) => Promise<T>): Promise<T> => {
    const source = openDatabase({ path })
    try {
      return await use(source)
    } finally {
      await source.db.destroy()
    }
  }
  const copy = () => copySqlite({ path, url: schema.url, clock: systemClock })

  async function fill(): Promise<void> {
    const store = await createStore({ path })
    await store.migrate()
    await store.facts.replace('fact', undefined, 'ü ☃')
    await store.workspaces.default()
    await store.keys.insert(sampleKey('h1'))
    await store.keys.insert(sampleKey('h2', { disabled: true }))
    await store.keyUses.note([{ keyHash: 'h1', secretHash: 's1', at: 60_000 }], 60_000)
    await store.destinations.insert(sampleDestination('d1', { sealed: encryption.seal(new Secret('{}'), 'destination:d1:webhook') }), 5)
    const generations = Array.from({ length: 1_200 }, (_, i) => ({ generation: sampleGeneration(`gen-${i}`), content: sampleContent }))
    await store.generations.insertMany(generations)
    await store.outbox(encryption).record([sampleEntry('gen-a', ['d1']), sampleEntry('gen-b', ['d1'])])
    await store.close()
  }

  it('has every row of every table, and deliveries go on', async () => {
    await fill()
    const copied: [string, number][] = []
    const soFar: [string, number][] = []
    const reports = {
      onTable: (...table: [string, number]) => void copied.push(table),
      onRows: (...rows: [string, number]) => void soFar.push(rows),
    }
    await copySqlite({ path, url: schema.url, clock: systemClock, ...reports })
    await withSource(async (source) => {
      for (const table of COPIED_TABLES.keys()) expect([table, await rowsOf(target, table)]).toEqual([table, await rowsOf(source, table)])
    })
    expect(copied).toEqual(expect.arrayContaining([['generations', 1_202], ['api_keys', 2], ['key_uses', 1], ['outbox_deliveries', 2]])) // prettier-ignore
    // While a long table is copied it is said how far: it takes minutes.
    expect(soFar.filter(([table]) => table === 'generations')).toEqual([512, 1_024, 1_202].map((rows) => ['generations', rows]))
    const store = await createStore({ url: schema.url })
    const outbox = store.outbox(encryption)
    await outbox.record([sampleEntry('gen-c', ['d1'])])
    const leased = await outbox.lease('d1', { owner: 'o', records: 9, bytes: 1_000_000, now: Date.now() + 60_000, leaseMs: 1_000 })
    expect(leased).toHaveLength(3)
    await store.close()
  })

  it('covers every table', async () => {
    const store = await createStore({ path })
    await store.migrate()
    await store.close()
    const query = sql<{ readonly name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`
    const all = await withSource(({ db }) => query.execute(db))
    expect([...COPIED_TABLES.keys(), 'config_version', 'migrations'].toSorted()).toEqual(all.rows.map(({ name }) => name).toSorted())
  })

  it('is refused where something is already, or the source is of another version, and changes nothing then', async () => {
    await fill()
    const other = await createStore({ url: schema.url })
    await other.migrate()
    await other.workspaces.default()
    await other.close()
    await expect(copy()).rejects.toMatchObject({ errorType: 'conflict', message: expect.stringContaining('is not empty (workspaces has rows)') })
    expect(await rowsOf(target, 'generations')).toEqual([])
    const newest = MIGRATIONS.at(-1)!.name
    await withSource(({ db }) => sql`delete from migrations where name = ${newest}`.execute(db))
    await expect(copy()).rejects.toMatchObject({
      errorType: 'precondition_failed',
      message: expect.stringContaining('an older version: bring it up'),
    })
    await withSource(({ db }) => sql`insert into migrations values (${newest}, 1), ('9999-newer', 1)`.execute(db))
    await expect(copy()).rejects.toMatchObject({ message: expect.stringContaining('a newer version: copy it with that version') })
  })

  it('is refused while a gateway has the source open', async () => {
    await fill()
    await withSource(async ({ db }) => {
      await sql`select 1 from facts`.execute(db)
      await expect(copy()).rejects.toMatchObject({ errorType: 'conflict', message: expect.stringMatching(/is in use: stop the gateway/) })
    })
    await copy()
  })

  it('says so when a gateway has opened the source meanwhile', async () => {
    await fill()
    const gateway = openDatabase({ path })
    const begun: Promise<unknown>[] = []
    const onTable = (): void => void begun.push(sql`select 1 from facts`.execute(gateway.db))
    try {
      await expect(copySqlite({ path, url: schema.url, clock: systemClock, onTable })).rejects.toMatchObject({
        errorType: 'conflict',
        message: expect.stringMatching(/was opened during the copy/),
      })
      await Promise.all(begun)
    } finally {
      await gateway.db.destroy()
    }
  })

  it('leaves the target empty when it is ended early', async () => {
    await fill()
    const ended = copySqlite({
      path,
      url: schema.url,
      clock: systemClock,
      onTable: (table) => {
        if (table === 'outbox_deliveries') throw new Error('ended')
      },
    })
    await expect(ended).rejects.toThrow()
    for (const table of COPIED_TABLES.keys()) expect(await rowsOf(target, table)).toEqual([])
    await copy()
    expect(await rowsOf(target, 'generations')).toHaveLength(1_202)
  })
})

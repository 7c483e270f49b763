import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Store } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { sampleGeneration, sampleKey } from '../testing/sample-records.ts'
import { createStore, type StoreOptions } from './index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openDatabase } from './open-database.ts'
import type { Migration } from './migrations/migration.ts'
import { verifies } from '../../e2e/requirements.ts'

interface Place {
  readonly options: StoreOptions
  readonly dispose: () => Promise<void>
}

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-migrate-'))
  return { options: { path: join(folder, 'signalbox.db') }, dispose: () => rm(folder, { recursive: true }) }
}

const postgres = await findTestPostgres('migrations on PostgreSQL')
const places: { readonly name: string; readonly open: () => Promise<Place> }[] = [{ name: 'sqlite', open: sqlitePlace }]
if (postgres.available) {
  places.push({
    name: 'postgres',
    open: async () => {
      const schema = await postgres.createSchema()
      return { options: { url: schema.url }, dispose: () => schema.drop() }
    },
  })
}

/** A step a later version might add; slow enough that processes which start together meet in it. */
const addColour: Migration = {
  name: '9999-add-colour',
  up: async (db, { text }) => {
    await db.schema.alterTable('workspaces').addColumn('colour', text).execute()
    await sql`update workspaces set colour = 'green'`.execute(db)
    await new Promise((resolve) => setTimeout(resolve, 50))
  },
}

describe.each(places)('migrations: $name', ({ open }) => {
  let place: Place
  beforeEach(async () => {
    place = await open()
  })
  afterEach(() => place.dispose())

  const withStore = async <T>(options: StoreOptions, use: (store: Awaited<ReturnType<typeof createStore>>) => Promise<T>): Promise<T> => {
    const store = await createStore(options)
    try {
      return await use(store)
    } finally {
      await store.close()
    }
  }

  it('are all pending on an empty database, which the check leaves empty', async () => {
    await withStore(place.options, async (store) => {
      const names = MIGRATIONS.map(({ name }) => name)
      expect(await store.pendingMigrations()).toEqual(names)
      expect(await store.newerSchema()).toBeUndefined()
      expect(await store.pendingMigrations()).toEqual(names)
      expect(await store.migrate()).toEqual(names)
    })
  })

  it('know from the activity on which day a key was last used before uses were remembered', async () => {
    // With those after it: this version writes columns that they add.
    const others = MIGRATIONS.filter(({ name }) => name !== '0008-key-uses')
    await withStore({ ...place.options, migrations: others }, async (store) => {
      await store.migrate()
      await store.workspaces.default()
      for (const hash of ['a'.repeat(64), 'b'.repeat(64)]) await store.keys.insert(sampleKey(hash))
      const generation = (id: string, day: string) => sampleGeneration(id, { keyHash: 'a'.repeat(64), endedAt: Date.parse(`${day}T12:34:00Z`) })
      await store.generations.insertMany([{ generation: generation('g1', '2026-03-01') }, { generation: generation('g2', '2026-02-01') }])
    })
    await withStore(place.options, async (store) => {
      await store.migrate()
      const uses = await store.keyUses.of(['a'.repeat(64), 'b'.repeat(64)])
      expect(uses).toEqual([{ keyHash: 'a'.repeat(64), secretHash: 'a'.repeat(64), at: Date.UTC(2026, 2, 1) }])
    })
  })

  it.each(MIGRATIONS.map((_, steps) => steps))('upgrade from the schema after %i steps', async (steps) => {
    await withStore({ ...place.options, migrations: MIGRATIONS.slice(0, steps) }, (store) => store.migrate())
    await withStore(place.options, async (store) => {
      expect(await store.migrate()).toEqual(MIGRATIONS.slice(steps).map(({ name }) => name))
      await store.workspaces.default()
      await store.keys.insert(sampleKey('h1'))
      await store.generations.insertMany([{ generation: sampleGeneration('gen-1') }])
    })
  })

  it(verifies('I6', 'P7', 'keep the data, and the previous version still works on the newer schema'), async () => {
    await withStore(place.options, async (older) => {
      await older.migrate()
      await older.workspaces.default()
      expect(await older.newerSchema()).toBeUndefined()
      await withStore({ ...place.options, migrations: [...MIGRATIONS, addColour] }, async (newer) => {
        expect(await newer.pendingMigrations()).toEqual(['9999-add-colour'])
        expect(await newer.migrate()).toEqual(['9999-add-colour'])
        expect(await newer.workspaces.list()).toHaveLength(1)
        expect(await newer.newerSchema()).toBeUndefined()
      })
      expect(await older.newerSchema()).toMatch(/^The database was migrated by a newer version of Signalbox .*9999-add-colour/)
      expect(await older.pendingMigrations()).toEqual([])
      expect(await older.migrate()).toEqual([])
      await older.keys.insert(sampleKey('h1'))
      expect(await older.workspaces.list()).toHaveLength(1)
    })
  })

  it('leave nothing behind when one fails', async () => {
    const failing: Migration = {
      name: '9999-fails',
      up: async (db) => {
        await sql`create table half_done (id integer)`.execute(db)
        await sql`insert into no_such_table values (1)`.execute(db)
      },
    }
    const migrations = [...MIGRATIONS, failing]
    await withStore({ ...place.options, migrations }, async (store) => {
      await expect(store.migrate()).rejects.toMatchObject({ name: 'GatewayError' })
      // At its first start an SQLite database gets all of them in one transaction.
      const left = place.options.path === undefined ? ['9999-fails'] : migrations.map(({ name }) => name)
      expect(await store.pendingMigrations()).toEqual(left)
    })
    await withStore(place.options, (store) => store.migrate())
    await withStore({ ...place.options, migrations }, async (store) => {
      await expect(store.migrate()).rejects.toMatchObject({ name: 'GatewayError' })
      expect(await store.pendingMigrations()).toEqual(['9999-fails'])
    })
    const repaired: Migration = { name: '9999-fails', up: async (db) => void (await sql`create table half_done (id integer)`.execute(db)) }
    await withStore({ ...place.options, migrations: [...MIGRATIONS, repaired] }, async (store) => {
      expect(await store.migrate()).toEqual(['9999-fails'])
    })
  })

  it('are logged while they take long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const patient: Migration = { name: '9999-slow', up: async () => void (await vi.advanceTimersByTimeAsync(2_000)) }
    try {
      await withStore({ ...place.options, migrations: [...MIGRATIONS, patient] }, async (store) => {
        const slow: string[] = []
        await store.migrate((name) => void slow.push(name))
        expect(slow).toEqual(['9999-slow'])
      })
    } finally {
      vi.useRealTimers()
    }
  })

  it('are logged beforehand where they block this thread, but not at a first start', async () => {
    const heavy: Migration = { name: '9999-heavy', up: async () => void before.push(...slow) }
    const [slow, before]: [string[], string[]] = [[], []]
    const onSlow = (name: string) => void slow.push(name)
    await withStore(place.options, (store) => store.migrate(onSlow))
    expect(slow).toEqual([])
    await withStore({ ...place.options, migrations: [...MIGRATIONS, heavy] }, (store) => store.migrate(onSlow))
    expect(before).toEqual(place.options.path === undefined ? [] : ['9999-heavy'])
    expect(slow).toEqual(before)
  })

  it('run once when several start together in one process', async () => {
    const options = { ...place.options, migrations: [...MIGRATIONS, addColour] }
    const applied = await Promise.all(Array.from({ length: 4 }, () => withStore(options, (store) => store.migrate())))
    expect(applied.flat().sort()).toEqual(options.migrations.map(({ name }) => name).sort())
  })

  it(verifies('I6', 'P7', 'run once when several processes start together'), async () => {
    const script = `
      import { createStore } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
      import { Secret } from ${JSON.stringify(new URL('../lib/secret.ts', import.meta.url).href)}
      const { path, url } = JSON.parse(process.env.PLACE)
      const store = await createStore(url ? { url: new Secret(url) } : { path })
      const applied = await store.migrate()
      await store.workspaces.default()
      await store.close()
      process.stdout.write(JSON.stringify(applied))`
    const PLACE = JSON.stringify({ path: place.options.path, url: place.options.url instanceof Secret ? place.options.url.reveal() : undefined })
    const runs = Array.from({ length: 3 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env: { ...process.env, PLACE }, timeout: 15_000 }),
    )
    const applied = (await Promise.all(runs)).flatMap(({ stdout }) => JSON.parse(stdout) as string[])
    expect(applied.toSorted()).toEqual(MIGRATIONS.map(({ name }) => name))
    await withStore(place.options, async (store) => {
      expect(await store.workspaces.list()).toHaveLength(1)
      expect(await store.version()).toBe(2)
    })
  })
})

describe.skipIf(!postgres.available)('a migration on PostgreSQL whose lock somebody holds', { timeout: 30_000 }, () => {
  const away = { errorType: 'provider_overloaded', cause: { message: expect.stringContaining('somebody holds a lock that a migration needs') } }
  const withHeld = async (statement: string, use: (older: Store, migrated: Promise<unknown>, waiting: () => Promise<number>) => Promise<void>) => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const [older, newer] = [await createStore({ url: schema.url }), await createStore({ url: schema.url, migrations: [...MIGRATIONS, addColour] })]
    const { db } = openDatabase({ url: schema.url })
    try {
      await older.migrate()
      await older.workspaces.default()
      await db.transaction().execute(async (trx) => {
        await sql.raw(statement).execute(trx)
        const migrated = newer.migrate().then(
          () => 'applied',
          (error: unknown) => error,
        )
        await use(older, migrated, schema.waiting)
        // Whoever holds a lock and does nothing for twelve seconds is ended: it has held it all the while.
        await sql`select 1`.execute(trx)
      })
      expect(await newer.migrate()).toEqual(['9999-add-colour'])
    } finally {
      await Promise.all([older.close(), newer.close(), db.destroy()])
      await schema.drop()
    }
  }

  it('lets waiting queries pass while a backup reads the table, and says so; later it is applied', () =>
    withHeld('select 1 from workspaces', async (older, migrated, waiting) => {
      await expect.poll(waiting, { timeout: 5_000 }).toBeGreaterThan(0)
      expect(await older.workspaces.list()).toHaveLength(1)
      expect(await migrated).toMatchObject(away)
    }))

  it('does not delay a start while another process migrates; later it is applied', () =>
    withHeld("select pg_advisory_xact_lock(hashtextextended('signalbox.migrations.' || current_schema(), 0))", async (_, migrated) =>
      expect(await migrated).toMatchObject(away),
    ))
})

describe.skipIf(!postgres.available)('migrations on PostgreSQL as a role that may only read and write rows', () => {
  it('are refused with what has to be done, also by the check beforehand', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const role = `signalbox_rows_${process.pid}`
    const as = new URL(schema.url.reveal())
    as.searchParams.set('options', `${as.searchParams.get('options')} -c role=${role}`)
    const owner = await createStore({ url: schema.url })
    const rows = await createStore({ url: new Secret(as.href), migrations: [...MIGRATIONS, addColour] })
    const { db } = openDatabase({ url: schema.url })
    try {
      await owner.migrate()
      await sql.raw(`create role ${role}`).execute(db)
      const name = new URL(schema.url.reveal()).searchParams.get('options')!.split('=')[1]
      await sql.raw(`grant usage on schema ${name} to ${role}`).execute(db)
      await sql.raw(`grant select, insert, update, delete on all tables in schema ${name} to ${role}`).execute(db)
      expect(await owner.migrationFault()).toBeUndefined()
      expect(await rows.pendingMigrations()).toEqual(['9999-add-colour'])
      expect(await rows.migrationFault()).toMatch(
        new RegExp(`^the role ${role} cannot apply migrations .*: run signalbox migrate as a role that owns`),
      )
      await expect(rows.migrate()).rejects.toMatchObject({
        errorType: 'provider_overloaded',
        cause: { code: '42501', message: expect.stringContaining('run signalbox migrate as a role that owns') },
      })
      await sql.raw(`grant create on schema ${name} to ${role}`).execute(db)
      expect(await rows.migrationFault()).toContain('its tables belong to')
      as.searchParams.set('options', '-c search_path=no_such_schema')
      const nowhere = await createStore({ url: new Secret(as.href) })
      const fault = await nowhere.migrationFault()
      await nowhere.close()
      expect(fault).toContain('its search_path names no schema that exists')
    } finally {
      await Promise.all([owner.close(), rows.close()])
      await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(db)
      await db.destroy()
      await schema.drop()
    }
  })
})

describe.skipIf(!postgres.available)('a PostgreSQL database that is not in UTF-8', () => {
  it('is refused while it is empty, and accepted with a warning where it is in use', async () => {
    if (!postgres.available) return
    const { url, drop } = await postgres.createDatabase('LATIN1')
    const store = await createStore({ url })
    const { db } = openDatabase({ url })
    try {
      await expect(store.migrate()).rejects.toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining('is in LATIN1') })
      expect(await store.pendingMigrations()).toHaveLength(MIGRATIONS.length)
      // As an earlier version made it.
      await sql`create table migrations (name text primary key not null, applied_at bigint not null)`.execute(db)
      expect(await store.migrate()).toHaveLength(MIGRATIONS.length)
      expect(await store.encodingFault()).toContain('is in LATIN1')
    } finally {
      await store.close()
      await db.destroy()
      await drop()
    }
  })
})

describe('the list of migrations', () => {
  it('is numbered without gaps, in order', () => {
    expect(MIGRATIONS.map(({ name }) => name.slice(0, 5))).toEqual(MIGRATIONS.map((_, i) => `${String(i + 1).padStart(4, '0')}-`))
  })
})

it('an SQLite database is made in one piece: its journal holds each page once, not again for each migration', async () => {
  const { options, dispose } = await sqlitePlace()
  const store = await createStore(options)
  await store.migrate()
  const journal = await stat(`${options.path}-wal`)
  const file = new DatabaseSync(options.path!, { readOnly: true })
  const { page_count: pages } = file.prepare('pragma page_count').get() as { readonly page_count: number }
  const { page_size: bytes } = file.prepare('pragma page_size').get() as { readonly page_size: number }
  file.close()
  expect(Math.floor(journal.size / bytes)).toBeLessThanOrEqual(pages)
  await store.close()
  await dispose()
})

it('keys are read before the migration of their secrets, which may have to wait', async () => {
  const { options, dispose } = await sqlitePlace()
  const store = await createStore(options)
  await store.migrate()
  await store.workspaces.default()
  await store.keys.insert(sampleKey('one'))
  const { db } = openDatabase(options)
  await db.schema.alterTable('api_keys').dropColumn('secrets').execute()
  await db.destroy()
  expect([await store.keys.get('one'), ...(await store.keys.list())]).toEqual([sampleKey('one'), sampleKey('one')])
  await store.close()
  await dispose()
})

import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect, promisify } from 'node:util'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { sampleContent, sampleGeneration, sampleKey } from '../testing/sample-records.ts'
import { createGenerationInsert, createGenerationStore } from './generations.ts'
import { createStore, type StoreOptions } from './index.ts'
import { openDatabase } from './open-database.ts'

describe('the SQLite file', () => {
  let folder: string
  let path: string
  const open: Awaited<ReturnType<typeof createStore>>[] = []
  const openStore = async (options: StoreOptions = {}) => {
    const store = await createStore({ path, ...options })
    open.push(store)
    return store
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-sqlite-'))
    path = join(folder, 'signalbox.db')
  })
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close()
    await rm(folder, { recursive: true })
  })
  const pragma = (name: string) => {
    const database = new DatabaseSync(path)
    const value = Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
    database.close()
    return value
  }

  it('is readable by its owner only, journal included, and in WAL mode', async () => {
    const store = await openStore()
    await store.migrate()
    await store.workspaces.default()
    for (const suffix of ['', '-wal', '-shm']) expect((await stat(path + suffix)).mode & 0o777).toBe(0o600)
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('auto_vacuum')).toBe(2)
  })

  // The system tells of locks nowhere else.
  it.skipIf(process.platform !== 'linux')('stays locked while several connections of this process come and go', async () => {
    const store = await openStore()
    await store.migrate()
    await store.workspaces.default()
    const { ino } = await stat(path)
    // Without one, whoever looks at the database beside it (`sqlite3 ... .backup`) takes himself for the last one, and deletes the journal that this
    // process goes on writing.
    const locks = async () => {
      const lines = (await readFile('/proc/locks', 'utf8')).split('\n')
      return lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length
    }
    expect(await locks()).toBe(1)
    const other = await openStore()
    await other.workspaces.default()
    expect(await locks()).toBe(1)
    await other.close()
    await store.migrate()
    await store.workspaces.default()
    expect(await locks()).toBe(1)
  })

  it.each([
    { file: 'a new one', pageSize: undefined, pages: 8_192 },
    { file: 'one that was made with smaller pages', pageSize: 4_096, pages: 4_096 },
  ])('is written back into the file after as many bytes, whatever its pages: $file', async ({ pageSize, pages }) => {
    if (pageSize !== undefined) {
      const made = new DatabaseSync(path)
      made.exec(`pragma page_size = ${pageSize}; create table t (x)`)
      made.close()
    }
    const database = openDatabase({ path })
    try {
      const read = async (name: string) =>
        Object.values((await sql.raw<{ [name: string]: number }>(`pragma ${name}`).execute(database.db)).rows[0]!)[0]
      expect(await read('page_size')).toBe(pages)
      expect(await read('wal_autocheckpoint')).toBe((32 * 1024 * 1024) / pages)
    } finally {
      await database.db.destroy()
    }
  })

  it('writes no temporary files: rollback copies are kept in memory', async () => {
    const database = openDatabase({ path })
    try {
      expect((await sql.raw<{ temp_store: number }>('pragma temp_store').execute(database.db)).rows).toEqual([{ temp_store: 2 }])
    } finally {
      await database.db.destroy()
    }
  })

  it.each([
    { what: 'removed', happens: () => rename(path, `${path}.away`), reason: 'was removed while it is in use' },
    {
      what: 'replaced by a backup',
      happens: async () => {
        await copyFile(path, `${path}.backup`)
        await rename(path, `${path}.away`)
        await rename(`${path}.backup`, path)
      },
      reason: 'another file was put in the place of',
    },
  ])('refuses reads and writes once it is $what, until it is back, because they would be lost', async ({ happens, reason }) => {
    const store = await openStore()
    await store.migrate()
    await store.workspaces.default()
    await happens()
    const refusal = { errorType: 'provider_overloaded', cause: { message: expect.stringContaining(reason) } }
    await expect(store.keys.insert(sampleKey('h1'))).rejects.toMatchObject(refusal)
    await expect(store.generations.insertMany([{ generation: sampleGeneration('gen-1') }])).rejects.toMatchObject(refusal)
    await expect(store.workspaces.list()).rejects.toMatchObject(refusal)
    await rename(`${path}.away`, path)
    await store.keys.insert(sampleKey('h1'))
    expect(await store.workspaces.list()).toHaveLength(1)
  })

  it('is not touched before the first use', async () => {
    await openStore()
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('waits for another writer without blocking the event loop', async () => {
    const store = await openStore()
    await store.migrate()
    await store.workspaces.default()
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    let ticks = 0
    const ticking = setInterval(() => ticks++, 5)
    const inserted = store.keys.insert(sampleKey('h1'))
    await sleep(300)
    other.exec('commit')
    other.close()
    await inserted
    clearInterval(ticking)
    expect(await store.keys.get('h1')).toBeDefined()
    // Blocked all the time, there would be none; the waits between short blocking tries leave a good dozen.
    expect(ticks).toBeGreaterThan(5)
  })

  it('gives up waiting after the limit, with an error that says to try again, and recovers', async () => {
    const store = await openStore({ busyLimitMs: 80 })
    await store.migrate()
    await store.workspaces.default()
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    await expect(store.keys.insert(sampleKey('h1'))).rejects.toMatchObject({ errorType: 'provider_overloaded', status: 503 })
    // Readers never wait.
    expect(await store.keys.list()).toEqual([])
    other.exec('rollback')
    other.close()
    await store.keys.insert(sampleKey('h1'))
    expect(await store.keys.list()).toHaveLength(1)
  })

  it('is opened and read without writing to it, also while another process writes', async () => {
    const first = await openStore()
    await first.migrate()
    await first.workspaces.default()
    await first.keys.insert(sampleKey('h1'))
    const { size } = await stat(`${path}-wal`)
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    const store = await openStore({ busyLimitMs: 80 })
    expect(await store.pendingMigrations()).toEqual([])
    expect(await store.migrate()).toEqual([])
    await store.workspaces.default()
    expect(await store.keys.list()).toHaveLength(1)
    other.exec('rollback')
    other.close()
    expect((await stat(`${path}-wal`)).size).toBe(size)
  })

  it('says when the folder is missing or the file is not a database, and stays usable once that is repaired', async () => {
    const missing = await openStore({ path: join(folder, 'nowhere', 'signalbox.db') })
    await expect(missing.ping()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    await writeFile(path, 'this is no database, not at all, whatever its name says'.repeat(100))
    const store = await openStore()
    await expect(store.migrate()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    await truncate(path, 0)
    expect(await store.migrate()).not.toEqual([])
  })

  describe('that cannot be written', () => {
    /** A store's generations on a connection whose limits the test can set. */
    const openLimited = async () => {
      await (await openStore()).migrate()
      const database = openDatabase({ path })
      return {
        generations: createGenerationStore(database, createGenerationInsert(database.db)),
        set: (text: string) => sql.raw(`pragma ${text}`).execute(database.db),
        close: () => database.db.destroy(),
      }
    }
    const batch = Array.from({ length: 200 }, (_, i) => ({ generation: sampleGeneration(`gen-${i}`), content: sampleContent }))

    it.each([
      // The closest a test gets to a full disk: the file may not grow, and SQLite ends the transaction by itself.
      { fault: 'full', set: () => `max_page_count = ${Number(pragma('page_count'))}`, undo: 'max_page_count = 1000000' },
      { fault: 'read-only', set: () => 'query_only = 1', undo: 'query_only = 0' },
    ])('because it is $fault asks to try again, keeps nothing of the batch, and recovers', async ({ set, undo }) => {
      const limited = await openLimited()
      await limited.set(set())
      await expect(limited.generations.insertMany(batch)).rejects.toMatchObject({ errorType: 'provider_overloaded' })
      expect(await limited.generations.get('gen-0')).toBeUndefined()
      await limited.set(undo)
      await limited.generations.insertMany(batch)
      expect(await limited.generations.get('gen-199')).toBeDefined()
      await limited.close()
    })
  })

  it('returns the space of deleted records to the disk', async () => {
    const store = await openStore()
    await store.migrate()
    const filler = 'x'.repeat(20_000)
    for (let i = 0; i < 10; i++) {
      await store.generations.insertMany(
        Array.from({ length: 50 }, (_, j) => ({ generation: sampleGeneration(`gen-${i}-${j}`, { metadata: { filler } }) })),
      )
    }
    const before = Number(pragma('page_count'))
    while ((await store.retention.expire('generations', Number.MAX_SAFE_INTEGER, 200)).more) continue
    expect(Number(pragma('page_count'))).toBeLessThan(before / 4)
  })

  it('keeps everything that was written when the process dies without closing', async () => {
    const script = `
      import { createStore } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
      const store = await createStore({ path: process.env.DB })
      await store.migrate()
      await store.facts.replace('written', undefined, 'yes')
      process.kill(process.pid, 'SIGKILL')`
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env: { ...process.env, DB: path } })
    await expect(run).rejects.toMatchObject({ signal: 'SIGKILL' })
    const store = await openStore()
    expect(await store.facts.get('written')).toBe('yes')
  })
})

describe('the options of a store', () => {
  it('need exactly one of path and URL', async () => {
    await expect(createStore({})).rejects.toMatchObject({ errorType: 'invalid_request' })
    const both = createStore({ path: 'a', url: new Secret('postgres://localhost/a') })
    await expect(both).rejects.toMatchObject({ errorType: 'invalid_request' })
  })

  it('never quote the URL they refuse', async () => {
    const refused = await createStore({ url: new Secret('mysql://user:hunter2@host/db') }).catch((error: unknown) => error)
    expect(inspect(refused, { depth: 10 })).not.toContain('hunter2')
    expect(String(refused)).toContain('postgres://user:password@host')
  })
})

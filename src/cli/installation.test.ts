import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDataDirectory } from '../accounts/data-directory.ts'
import { createEncryption, verifySecretKey } from '../accounts/encryption.ts'
import { createStore } from '../store/index.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { doctor, migrate } from './check.ts'
import { createKey, endGrace, listKeys, revokeKey, rotateKey, updateKey } from './keys.ts'
import { reconcile } from './reconcile.ts'
import { run } from './run.ts'
import { rotate } from './secrets.ts'

/** Commands beside an installation: they find it, or say where they looked, and make nothing. */
let parent: string
let data: string
let out: string
let errors: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'signalbox-commands-'))
  data = join(parent, 'data')
  out = ''
  errors = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => (out += String(text)) !== '')
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => (errors += String(text)) !== '')
  for (const name of ['CONFIG', 'DATA_DIR', 'DATABASE_URL', 'REDIS_URL', 'SECRET_KEY', 'API_KEY', 'MANAGEMENT_KEY'])
    vi.stubEnv(`SIGNALBOX_${name}`, '')
  vi.stubEnv('SIGNALBOX_CONFIG', '/dev/null')
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  process.exitCode = undefined
  await rm(parent, { recursive: true })
})

const create = (more: { readonly workspace?: string } = {}) => createKey({ name: 'ci', management: false, ...more }, { data })

describe('where there is no installation', () => {
  it.each([
    ['keys create', () => create()],
    ['keys list', () => listKeys({}, { data })],
    ['keys update', () => updateKey('ci', { disable: true }, { data })],
    ['keys rotate', () => rotateKey('ci', { grace: '1h' }, { data })],
    ['keys revoke', () => revokeKey('ci', { data })],
    ['secrets rotate', () => rotate({ data })],
  ])('%s names the file it looked for, and makes nothing', async (_name, command) => {
    await expect(command()).rejects.toMatchObject({
      errorType: 'not_found',
      message: `There is no database at ${join(data, 'signalbox.db')}: is this the right data directory (--data, SIGNALBOX_DATA_DIR)? signalbox serve makes a new one, or migrate`,
    })
    expect(await readdir(parent)).toEqual([])
  })

  it('doctor says so, goes on to the providers, and makes nothing', async () => {
    await doctor({ data })
    expect(out).toContain(`There is no database at ${join(data, 'signalbox.db')}`)
    expect(out).toContain('provider demo: built in')
    expect(process.exitCode).toBe(1)
    expect(await readdir(parent)).toEqual([])
  })

  it.each([
    ['keys create', () => create()],
    ['keys list', () => listKeys({}, { data })],
    ['reconcile', () => reconcile({ json: false, invoice: [] }, { data })],
    ['secrets rotate', () => rotate({ data })],
  ])('%s refuses an empty database, and leaves it and the secret key as they are', async (_name, command) => {
    await openDataDirectory({ path: data })
    const key = await readFile(join(data, 'secret.key'), 'utf8')
    await writeFile(join(data, 'signalbox.db'), '')
    await expect(command()).rejects.toMatchObject({ errorType: 'not_found', message: expect.stringMatching(/^The database is empty: .*migrate$/) })
    expect(await readFile(join(data, 'secret.key'), 'utf8')).toBe(key)
    const database = new DatabaseSync(join(data, 'signalbox.db'))
    expect(database.prepare('select name from sqlite_master').all()).toEqual([])
    database.close()
  })

  it('with a PostgreSQL database, no data directory is needed for keys, and none is created', async () => {
    vi.stubEnv('SIGNALBOX_DATABASE_URL', 'postgres://signalbox:canary-password@127.0.0.1:1/signalbox')
    await expect(listKeys({}, { data })).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    await expect(rotate({ data })).rejects.toMatchObject({ errorType: 'not_found', message: expect.stringContaining(join(data, 'secret.key')) })
    expect(await readdir(parent)).toEqual([])
  })
})

describe('where there is one', () => {
  beforeEach(() => migrate({ data }))

  it('secrets rotate replaces no key for a database that no gateway has started with: another database may need it', async () => {
    await openDataDirectory({ path: data })
    const key = await readFile(join(data, 'secret.key'), 'utf8')
    await expect(rotate({ data })).rejects.toMatchObject({
      errorType: 'precondition_failed',
      message: expect.stringContaining('nothing was changed'),
    })
    expect(await readFile(join(data, 'secret.key'), 'utf8')).toBe(key)
  })

  it('secrets rotate keeps the key that an interrupted rotation has left if the database is another one', async () => {
    await openDataDirectory({ path: data })
    const left = Buffer.alloc(32, 8).toString('base64')
    await writeFile(join(data, 'secret.key.next'), left)
    const store = await createStore({ path: join(data, 'signalbox.db') })
    await verifySecretKey(createEncryption({ current: Buffer.alloc(32, 9) }), store.facts)
    await store.close()
    await expect(rotate({ data })).rejects.toMatchObject({ errorType: 'precondition_failed', message: expect.stringContaining('is not the one') })
    expect(await readFile(join(data, 'secret.key.next'), 'utf8')).toBe(left)
  })

  it('secrets rotate changes nothing if the new key cannot be shown: it would be lost, and every secret with it', async () => {
    const key = Buffer.alloc(32, 7)
    vi.stubEnv('SIGNALBOX_SECRET_KEY', key.toString('base64'))
    const canary = async (): Promise<string | undefined> => {
      const store = await createStore({ path: join(data, 'signalbox.db') })
      try {
        await verifySecretKey(createEncryption({ current: key }), store.facts)
        return await store.facts.get('secret-key-canary')
      } finally {
        await store.close()
      }
    }
    const before = await canary()
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    // As streams do it: the failure is known only after the call.
    const write = (_text: unknown, done?: (error: Error) => void): boolean => {
      process.nextTick(() => done?.(full))
      return false
    }
    vi.mocked(process.stdout.write).mockImplementation(write as typeof process.stdout.write)
    await expect(rotate({ data })).rejects.toMatchObject({
      errorType: 'precondition_failed',
      message: expect.stringContaining('nothing was changed'),
    })
    expect(await canary()).toBe(before)
  })

  it.each(['2030-02-31', '2030-02-31T10:00:00Z', '2029-02-29', '2030-04-31', 'tomorrow', '5'])(
    'keys create refuses to expire on %s, which is no date of the calendar',
    async (expires) => {
      await expect(createKey({ name: 'ci', management: false, expires }, { data })).rejects.toMatchObject({
        errorType: 'invalid_request',
        message: expect.stringContaining(`--expires ${expires}: a date of the calendar`),
      })
      expect(out).not.toContain('sk-sb-')
    },
  )

  it.each(['2032-02-29', '2032-02-29T10:00', ' 2032-02-29T10:00:00.5+02:00'])('keys create takes %s', async (expires) => {
    await createKey({ name: 'ci', management: false, expires }, { data })
    expect(out).toMatch(/^sk-sb-v1-/m)
  })

  it.each([
    ['2032-02-29', '2032-02-29T00:00Z'],
    ['2032-02-29T10:00', '2032-02-29T10:00Z'],
    ['2032-02-29T10:00:30', '2032-02-29T10:00Z'],
    ['2032-02-29T10:00Z', '2032-02-29T10:00Z'],
    ['2032-02-29T10:00+02:00', '2032-02-29T08:00Z'],
  ])('keys update reads %s as keys list shows it, wherever the command runs', async (expires, shown) => {
    vi.stubEnv('TZ', 'America/New_York')
    expect(new Date(2032, 1, 29).getUTCHours()).toBe(5)
    await create()
    await updateKey('ci', { expires }, { data })
    expect(out).toContain(`expires: ${shown};`)
  })

  it('doctor finds nothing wrong', async () => {
    await doctor({ data })
    expect(out).toContain('database: sqlite answers, up to date')
    expect(process.exitCode).toBeUndefined()
  })

  it('keys list shows an expired key as expired', async () => {
    const store = await createStore({ path: join(data, 'signalbox.db') })
    await store.workspaces.default()
    await store.keys.insert(sampleKey('hash-of-old', { name: 'old', expiresAt: Date.now() - 1 }))
    await store.keys.insert(sampleKey('hash-of-new', { name: 'new', expiresAt: Date.now() + 60_000 }))
    await store.close()
    await listKeys({}, { data })
    expect(out).toMatch(/ expired .* old\n/)
    expect(out).toMatch(/ active .* new\n/)
  })

  it('keys list shows when a key expires', async () => {
    const store = await createStore({ path: join(data, 'signalbox.db') })
    await store.workspaces.default()
    await store.keys.insert(sampleKey('hash-of-ending', { name: 'ending', expiresAt: Date.UTC(2099, 0, 31, 12, 30, 59) }))
    await store.keys.insert(sampleKey('hash-of-lasting', { name: 'lasting', expiresAt: null }))
    await store.close()
    await listKeys({}, { data })
    expect(out).toMatch(/^LABEL +KIND +STATE +CREATED +EXPIRES +LAST USED +HASH +NAME\n/m)
    expect(out).toMatch(/ active +\S+ +2099-01-31T12:30Z .* ending\n/)
    expect(out).toMatch(/ active +\S+ +never .* lasting\n/)
  })

  it('keys list shows when a key was last used, and on request only those that were not used for some time', async () => {
    const [now, day] = [Date.now(), 86_400_000]
    const store = await createStore({ path: join(data, 'signalbox.db') })
    await store.workspaces.default()
    const keys = [
      ['busy', { createdAt: now - 200 * day }],
      ['idle', { createdAt: now - 200 * day }],
      ['never', { createdAt: now - 200 * day }],
      ['young', { createdAt: now - day }],
      ['over', { createdAt: now - 200 * day, revokedAt: 1 }],
    ] as const
    for (const [name, more] of keys) await store.keys.insert(sampleKey(`hash-of-${name}`, { name, ...more }))
    const use = (name: string, at: number) => ({ keyHash: `hash-of-${name}`, secretHash: `hash-of-${name}`, at })
    await store.keyUses.note([use('busy', Date.UTC(2020, 4, 1, 10, 30)), use('idle', now - 91 * day)], now)
    await store.keyUses.note([{ ...use('busy', now - day), secretHash: 'another' }], now)
    await store.close()
    await listKeys({}, { data })
    expect(out).toMatch(new RegExp(` never +${new Date(now - day).toISOString().slice(0, 16)}Z .* busy\\n`))
    expect(out).toMatch(/ never +never .* young\n/)
    expect(out).toContain(' over\n')
    out = ''
    await listKeys({ unusedFor: '90d' }, { data })
    expect(
      out
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ +/).at(-1)),
    ).toEqual(['idle', 'never'])
    await expect(listKeys({ unusedFor: 'long' }, { data })).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: '--unused-for long: a duration is expected, such as 90d or 12h',
    })
  })

  it('keys update changes what is named, and says what the key is then', async () => {
    await create()
    const change = async (options: Parameters<typeof updateKey>[1]): Promise<string> => {
      out = ''
      await updateKey('ci', options, { data })
      return out.trim()
    }
    const label = /\((\S+)\)/
    expect(await change({ limit: '20.5', reset: 'monthly', expires: '2999-01-31' })).toMatch(
      /^Changed: inference key "ci" \(\S+\); active; expires: 2999-01-31T00:00Z; limit: 20.5 USD, monthly\. A running gateway follows within 5 seconds\.$/,
    )
    expect(await change({ disable: true })).toContain('; disabled; expires: 2999-01-31T00:00Z; limit: 20.5 USD, monthly.')
    expect(await change({ enable: true, expires: 'never', reset: 'never' })).toContain('; active; expires: never; limit: 20.5 USD.')
    expect(await change({ limit: 'none' })).toContain('; limit: none.')
    expect((await change({ limit: '0' })).replace(label, '')).toContain('; limit: 0 USD.')
    await updateKey('ci', { name: 'continuous integration' }, { data })
    await expect(change({ disable: true })).rejects.toMatchObject({ errorType: 'not_found' })
  })

  it.each([
    [{}, 'Nothing to change'],
    [{ limit: '' }, '--limit : an amount in USD is expected'],
    [{ limit: '-1' }, '--limit -1: an amount'],
    [{ limit: '1e3' }, '--limit 1e3: an amount'],
    [{ limit: '2000000000' }, '--limit 2000000000: an amount'],
    [{ expires: 'soon' }, '--expires soon: a date'],
    [{ expires: '2001-01-01' }, 'expires_at must be a time in the future'],
    [{ name: ' ' }, 'name must be 1 to 256 characters'],
  ])('keys update refuses %j and changes nothing', async (options, message) => {
    await create()
    await expect(updateKey('ci', { ...options }, { data })).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: expect.stringContaining(message),
    })
    out = ''
    await listKeys({}, { data })
    expect(out.split('\n')[1]).toMatch(/ active +\S+ +never +never +\w{12} +ci$/)
  })

  it('keys update gives a management key no limit, but an end', async () => {
    await createKey({ name: 'boss', management: true }, { data })
    await expect(updateKey('boss', { limit: '5' }, { data })).rejects.toMatchObject({ message: expect.stringContaining('makes no calls') })
    out = ''
    await updateKey('boss', { expires: '2999-01-31T12:00:00Z' }, { data })
    expect(out).toMatch(/^Changed: management key "boss" \(\S+\); active; expires: 2999-01-31T12:00Z\. /)
  })

  it('keys rotate prints the new secret alone, and keys list shows which earlier ones work until when', async () => {
    await create()
    const [first] = /sk-sb-v1-\w+/.exec(out)!
    out = ''
    errors = ''
    await rotateKey('ci', { grace: '36h' }, { data })
    expect(out).toMatch(/^sk-sb-v1-\w{64}\n$/)
    expect(out).not.toContain(first)
    const until = errors.match(/ work until (\S+Z);/)?.[1]
    expect(Math.abs(Date.parse(until!) - Date.now() - 36 * 3_600_000)).toBeLessThan(120_000)
    out = ''
    await listKeys({}, { data })
    const rows = out.split('\n').slice(1, -1)
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatch(/ active +\S+ +never +never +\w{12} +ci$/)
    expect(rows[1]).toMatch(new RegExp(` replaced +\\S+ +${until} +never +\\w{12} +ci$`))
    out = ''
    await endGrace(first, { data })
    expect(out).toContain('Only the newest secret of inference key "ci"')
    out = ''
    await listKeys({}, { data })
    expect(out.split('\n')).toHaveLength(3)
    errors = ''
    await rotateKey('ci', { grace: '0' }, { data })
    expect(errors).toContain('refuses earlier ones within 5 seconds')
    await expect(rotateKey('ci', { grace: 'soon' }, { data })).rejects.toMatchObject({ message: expect.stringContaining('--grace soon: a duration') })
  })

  it('secrets rotate has its changes on the disk before the old key goes', async () => {
    const { secretKey } = await openDataDirectory({ path: data })
    const store = await createStore({ path: join(data, 'signalbox.db') })
    await verifySecretKey(createEncryption({ current: secretKey }), store.facts)
    await store.close()
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    await rotate({ data })
    expect(exec.mock.calls.flat()).toContain('pragma synchronous = full')
    expect(exec.mock.calls.flat()).not.toContain('pragma synchronous = normal')
    expect(out).toContain('are encrypted with the key')
  })

  it('keys create takes a workspace by its slug, as the API does, or by its id', async () => {
    const store = await createStore({ path: join(data, 'signalbox.db') })
    await store.workspaces.insert({
      id: 'id-of-team',
      slug: 'team',
      name: 'Team',
      description: null,
      isDefault: false,
      createdAt: 1,
      updatedAt: 1,
      settings: {},
    })
    await create({ workspace: 'team' })
    await create({ workspace: 'id-of-team' })
    await create({ workspace: 'default' })
    await expect(create({ workspace: 'nobody' })).rejects.toMatchObject({
      errorType: 'not_found',
      message: 'There is no workspace with the id or slug nobody',
    })
    const made = (await store.keys.list()).map(({ workspaceId }) => workspaceId)
    expect(made.filter((id) => id === 'id-of-team')).toHaveLength(2)
    expect(made).toHaveLength(3)
    await store.close()
  })
})

it('a database that is down is reported in one sentence with the driver’s message, without credentials', async () => {
  vi.stubEnv('SIGNALBOX_DATABASE_URL', 'postgres://signalbox:canary-password@127.0.0.1:1/signalbox')
  await run(['node', 'signalbox', 'keys', 'list'])
  expect(errors).toMatch(/^The database cannot be used at the moment; try again \(.*ECONNREFUSED 127\.0\.0\.1:1\)\n$/)
  expect(errors).not.toContain('canary')
  expect(process.exitCode).toBe(1)
})

it('doctor says why Redis does not answer', async () => {
  await migrate({ data })
  for (const scheme of ['redis', 'valkey']) {
    out = ''
    vi.stubEnv('SIGNALBOX_REDIS_URL', `${scheme}://user:canary-password@127.0.0.1:1`)
    await doctor({ data })
    expect(out).toMatch(/redis: does not answer: .*ECONNREFUSED 127\.0\.0\.1:1/)
    expect(out).not.toContain('canary')
  }
})

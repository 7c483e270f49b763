import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import type { Store } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { createGenerationSink, createStore, UNPACKED } from '../store/index.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'
import { sampleContent, sampleGeneration } from '../testing/sample-records.ts'
import { createEncryption } from './encryption.ts'
import { openAccounts, type Accounts, type AccountsEvent, type AccountsOptions } from './open-accounts.ts'
import { verifies } from '../../e2e/requirements.ts'

const encryption = createEncryption({ current: Buffer.alloc(32, 1) })

describe('accounts', () => {
  let folder: string
  let store: Store
  let events: AccountsEvent[]
  const open: Accounts[] = []
  const start = async (fixed: { readonly apiKey?: string; readonly managementKey?: string } = {}, options: Partial<AccountsOptions> = {}) => {
    events = []
    const accounts = await openAccounts({
      store,
      encryption,
      clock: systemClock,
      fixedKeys: {
        ...(fixed.apiKey === undefined ? {} : { apiKey: new Secret(fixed.apiKey) }),
        ...(fixed.managementKey === undefined ? {} : { managementKey: new Secret(fixed.managementKey) }),
      },
      lastKnownGoodFile: join(folder, 'last-known-good.json'),
      onEvent: (event) => void events.push(event),
      retryMs: 20,
      ...options,
    })
    open.push(accounts)
    return accounts
  }
  const status = ({ snapshot }: Accounts, bearer: string) => {
    try {
      const result = snapshot.authenticate(bearer)
      return result.ok ? result.key.kind : result.reason
    } catch (error) {
      return error instanceof GatewayError ? error.status : error
    }
  }
  const generated = () => events.flatMap((event) => (event.type === 'key-generated' ? [event] : []))
  const warnings = () => events.flatMap((event) => (event.type === 'ready' ? event.warnings : []))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-accounts-'))
    store = await createStore({ path: join(folder, 'signalbox.db') })
  })
  afterEach(async () => {
    for (const accounts of open.splice(0)) await accounts.close()
    await store.close()
    await rm(folder, { recursive: true })
  })

  describe('without fixed keys', () => {
    it(verifies('F9', 'make one of each kind at the first start, and only then'), async () => {
      const first = await start()
      expect(generated().map(({ key }) => key.kind)).toEqual(['inference', 'management'])
      const secrets = generated().map(({ secret }) => secret.reveal())
      expect(secrets.map((secret) => status(first, secret))).toEqual(['inference', 'management'])

      const second = await start()
      expect(generated()).toEqual([])
      expect(secrets.map((secret) => status(second, secret))).toEqual(['inference', 'management'])
    })

    it('make one of each kind when several processes start together', async () => {
      const all: AccountsEvent[] = []
      await Promise.all(Array.from({ length: 5 }, () => start({}, { onEvent: (event) => void all.push(event) })))
      const made = all.flatMap((event) => (event.type === 'key-generated' ? [event.key.hash] : []))
      expect(made).toHaveLength(2)
      expect((await store.keys.list()).map(({ hash }) => hash).sort()).toEqual(made.sort())
    })

    it('do not bring back a generated key that was revoked', async () => {
      const first = await start()
      for (const { key } of generated()) await first.keys.revoke(key.hash)
      await start()
      expect(generated()).toEqual([])
    })

    it('replace a generated key if the earlier start died before it could show it', async () => {
      const facts: Store['facts'] = {
        get: (name) => store.facts.get(name),
        replace: (name, expected, value) =>
          name.startsWith('generated-key') ? Promise.reject(new GatewayError('server', 'died')) : store.facts.replace(name, expected, value),
      }
      await expect(start({}, { store: { ...store, facts } })).rejects.toThrow('died')
      const orphans = await store.keys.list()
      expect(orphans).toHaveLength(1)
      expect(generated()).toEqual([])
      await start()
      const keys = await store.keys.list()
      expect(keys.map(({ hash }) => hash).sort()).toEqual(
        generated()
          .map(({ key }) => key.hash)
          .sort(),
      )
    })
  })

  describe('with keys fixed by the environment', () => {
    it('have them, under the names of their variables, start after start', async () => {
      for (let i = 0; i < 3; i++) {
        const accounts = await start({ apiKey: 'fixed-one', managementKey: 'fixed-two' })
        expect([status(accounts, 'fixed-one'), status(accounts, 'fixed-two')]).toEqual(['inference', 'management'])
        expect(generated()).toEqual([])
      }
      expect((await store.keys.list()).map(({ name, origin }) => [name, origin]).sort()).toEqual([
        ['SIGNALBOX_API_KEY', 'environment'],
        ['SIGNALBOX_MANAGEMENT_KEY', 'environment'],
      ])
    })

    it('revoke the earlier one when the variable changes, and bring it back when it changes back', async () => {
      await start({ apiKey: 'old', managementKey: 'same' })
      const changed = await start({ apiKey: 'new', managementKey: 'same' })
      expect(['old', 'new', 'same'].map((key) => status(changed, key))).toEqual(['revoked', 'inference', 'management'])
      const back = await start({ apiKey: 'old', managementKey: 'same' })
      expect(['old', 'new', 'same'].map((key) => status(back, key))).toEqual(['inference', 'revoked', 'management'])
    })

    it('revoke it when the variable goes, and make a key of their own', async () => {
      await start({ apiKey: 'old', managementKey: 'same' })
      const accounts = await start({ managementKey: 'same' })
      expect(status(accounts, 'old')).toBe('revoked')
      expect(generated().map(({ key }) => key.kind)).toEqual(['inference'])
    })

    it('leave keys alone that people made', async () => {
      const accounts = await start({ apiKey: 'one', managementKey: 'two' })
      const { secret } = await accounts.keys.create({ name: 'mine', kind: 'inference' })
      expect(status(await start({ apiKey: 'three', managementKey: 'two' }), secret.reveal())).toBe('inference')
    })

    it('do not restore a key that was revoked by a user, and say so', async () => {
      const first = await start({ apiKey: 'leaked', managementKey: 'two' })
      await first.keys.revoke((await first.keys.find('leaked')).hash)
      expect(status(first, 'leaked')).toBe('revoked')
      const second = await start({ apiKey: 'leaked', managementKey: 'two' })
      expect(status(second, 'leaked')).toBe('revoked')
      expect(warnings()).toEqual([expect.stringMatching(/^SIGNALBOX_API_KEY names a key that was revoked on .*: set another$/)])
    })

    it('make no second key of a secret that a key got when it was rotated, and say when the variable names an earlier one', async () => {
      const { keys } = await start({ managementKey: 'two' })
      const { key, secret: first } = await keys.create({ name: 'mine', kind: 'inference' })
      const { secret: second } = await keys.rotate(key.hash, 0)
      const named = await start({ apiKey: second.reveal(), managementKey: 'two' })
      expect([status(named, second.reveal()), warnings()]).toEqual(['inference', []])
      expect((await store.keys.list()).filter(({ kind }) => kind === 'inference').map(({ name }) => name)).toEqual(['first key', 'mine'])
      const outdated = await start({ apiKey: first.reveal(), managementKey: 'two' })
      expect([status(outdated, first.reveal()), status(outdated, second.reveal())]).toEqual(['replaced', 'inference'])
      expect(warnings()).toEqual(['SIGNALBOX_API_KEY names an earlier secret of the key "mine", which was rotated: set the new one'])
      await expect(keys.rotate((await keys.find('two')).hash, 0)).rejects.toMatchObject({ errorType: 'conflict' })
    })

    it.each([
      [{ apiKey: 'canary key', managementKey: 'ok' }, 'SIGNALBOX_API_KEY must be'],
      [{ apiKey: 'ok', managementKey: 'canary\u00e9' }, 'SIGNALBOX_MANAGEMENT_KEY must be'],
      [{ apiKey: 'canary', managementKey: 'canary' }, 'must differ'],
      [{ apiKey: `canary${'x'.repeat(600)}` }, 'SIGNALBOX_API_KEY must be'],
    ])('refuse %j without quoting it', async (fixed, message) => {
      const error: unknown = await start(fixed).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining(message) })
      expect(String(error)).not.toContain('canary')
    })

    it('refuse a key that changes its kind', async () => {
      await start({ apiKey: 'one', managementKey: 'two' })
      await expect(start({ apiKey: 'two', managementKey: 'three' })).rejects.toMatchObject({ errorType: 'invalid_request' })
    })
  })

  it('refuse to start with another secret key', async () => {
    await start({ apiKey: 'one' })
    const other = createEncryption({ current: Buffer.alloc(32, 2) })
    await expect(start({ apiKey: 'one' }, { encryption: other })).rejects.toMatchObject({
      errorType: 'precondition_failed',
      message: expect.stringContaining('SIGNALBOX_SECRET_KEY'),
    })
  })

  it('warn of a database that a newer version has migrated, and serve with it', async () => {
    const newer = await createStore({
      path: join(folder, 'signalbox.db'),
      migrations: [...MIGRATIONS, { name: '9999-newer', up: async () => undefined }],
    })
    await newer.migrate()
    await newer.close()
    const accounts = await start({ apiKey: 'one' })
    expect(status(accounts, 'one')).toBe('inference')
    expect(warnings()).toEqual([expect.stringContaining('9999-newer')])
  })

  it('warn of an empty database where keys were served before, and say what may be missing', async () => {
    await start({ apiKey: 'one', managementKey: 'two' })
    expect(warnings()).toEqual([])
    await open.splice(0)[0]!.close()
    const empty = await createStore({ path: join(folder, 'other.db') })
    await start({ apiKey: 'one' }, { store: empty })
    expect(warnings()).toEqual([expect.stringMatching(/^The database is empty, but this data directory has served 2 keys before: .* -wal file/)])
    await open.splice(0)[0]!.close()
    await empty.close()
  })

  describe('when the database is away at the start', () => {
    let away = false
    const unreachable = (): Store => {
      away = true
      const gate =
        <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
        (...args: A) =>
          away ? Promise.reject<T>(new GatewayError('provider_overloaded', 'away')) : work(...args)
      return {
        ...store,
        migrate: gate(() => store.migrate()),
        version: gate(() => store.version()),
        keys: { ...store.keys, list: gate((...args: Parameters<Store['keys']['list']>) => store.keys.list(...args)) },
      }
    }
    const until = async (condition: () => boolean) => {
      for (let i = 0; i < 200 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
      expect(condition()).toBe(true)
    }

    it(verifies('P6', 'I1', 'serve the keys of the environment and of the last run, and prepare the database when it comes'), async () => {
      const before = await start({ apiKey: 'one', managementKey: 'two' })
      const { secret } = await before.keys.create({ name: 'mine', kind: 'inference' })
      await before.snapshot.refresh()
      await before.close()

      const accounts = await start({ apiKey: 'fresh', managementKey: 'two' }, { store: unreachable() })
      expect(events).toEqual([{ type: 'started-without-database', error: expect.any(GatewayError), keys: 3 }])
      expect(['fresh', 'two', secret.reveal()].map((key) => status(accounts, key))).toEqual(['inference', 'management', 'inference'])
      expect(['one', 'never-seen', ''].map((key) => status(accounts, key))).toEqual([503, 503, 'missing'])

      away = false
      await until(() => accounts.snapshot.stats().source === 'database')
      await until(() => events.at(-1)?.type === 'database-back')
      expect(['fresh', 'two', secret.reveal(), 'one', 'never-seen'].map((key) => status(accounts, key))).toEqual([
        'inference',
        'management',
        'inference',
        'revoked',
        'unknown',
      ])
    })

    it('serve them, too, when it goes down between the migration and the first read of its keys', async () => {
      const before = await start({ apiKey: 'one' })
      const { secret } = await before.keys.create({ name: 'mine', kind: 'inference' })
      await before.snapshot.refresh()
      await before.close()

      const half = { ...unreachable(), migrate: () => store.migrate(), keys: store.keys }
      const accounts = await start({ apiKey: 'one' }, { store: half })
      expect(['one', secret.reveal()].map((key) => status(accounts, key))).toEqual(['inference', 'inference'])
      away = false
      await until(() => accounts.snapshot.stats().source === 'database')
    })

    it('serve them where it answers but its migrations are refused, and report that reason', async () => {
      await start({ apiKey: 'one', managementKey: 'two' })
      let reason = 'away'
      const refusing = { ...store, migrate: () => Promise.reject<readonly string[]>(new GatewayError('provider_overloaded', reason)) }
      const accounts = await start({ apiKey: 'fresh', managementKey: 'two' }, { store: refusing })
      await accounts.snapshot.refresh()
      expect(['fresh', 'two', 'one'].map((key) => status(accounts, key))).toEqual(['inference', 'management', 'unknown'])
      expect(accounts.snapshot.stats()).toMatchObject({ source: 'database', prepared: false })

      reason = 'permission denied'
      await until(() => events.some((event) => event.type === 'still-without-database' && event.error.message === reason))
      refusing.migrate = () => store.migrate()
      await until(() => accounts.snapshot.stats().prepared)
      await until(() => status(accounts, 'one') === 'revoked')
      expect(['fresh', 'two'].map((key) => status(accounts, key))).toEqual(['inference', 'management'])
      expect(events.filter(({ type }) => type === 'still-without-database')).toHaveLength(1)
    })

    it('make the first keys when it comes', async () => {
      await start({}, { store: unreachable() })
      expect(generated()).toEqual([])
      away = false
      await until(() => generated().length === 2)
    })

    it('report a wrong secret key when it comes', async () => {
      await start({ apiKey: 'one' })
      await start({ apiKey: 'one' }, { store: unreachable(), encryption: createEncryption({ current: Buffer.alloc(32, 2) }) })
      away = false
      await until(() => events.some(({ type }) => type === 'refused'))
    })

    it('stop waiting when they are closed', async () => {
      const accounts = await start({ apiKey: 'one' }, { store: unreachable(), retryMs: 60_000 })
      await accounts.close()
    })
  })

  it(verifies('G1', 'write no key and no secret anywhere: rows, files, events, errors'), async () => {
    const canaries = { apiKey: 'canary-inference-key-0123456789', managementKey: 'canary-management-key-0123456789' }
    const accounts = await start(canaries)
    const { secret } = await accounts.keys.create({ name: 'mine', kind: 'inference' })
    await store.facts.replace('destination', undefined, encryption.seal(new Secret('canary-destination-secret'), 'destination'))
    accounts.snapshot.authenticate('canary-wrong-key')
    const sink = createGenerationSink({ store, packing: UNPACKED, clock: systemClock })
    sink.record({ generation: sampleGeneration('gen-1'), content: { ...sampleContent, instructions: 'canary-prompt' } })
    await sink.close()
    const errors = await Promise.all([
      accounts.keys.revoke('canary-hash').catch((error: unknown) => error),
      accounts.keys.find('canary-reference').catch((error: unknown) => error),
      accounts.keys.create({ name: 'canary\u0000', kind: 'inference' }).catch((error: unknown) => error),
    ])
    await accounts.close()
    await store.close()

    const written = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'latin1')))
    const everything = [
      ...written,
      inspect(events, { depth: 20, showHidden: true }),
      inspect(errors, { depth: 20, showHidden: true }),
      inspect(accounts, { depth: 20 }),
    ].join('\n')
    expect(written.join('')).toContain('SIGNALBOX_API_KEY')
    expect(everything).not.toContain(secret.reveal())
    expect(everything).not.toMatch(/canary-(inference|management|destination|wrong|prompt|hash|reference)/)
  })
})

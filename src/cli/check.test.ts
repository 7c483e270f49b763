import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { createEncryption, verifySecretKey } from '../accounts/encryption.ts'
import { createApp } from '../app.ts'
import { loadConfig } from '../config/load.ts'
import { defined } from '../lib/defined.ts'
import { silentLogger } from '../lib/logger.ts'
import { Secret } from '../lib/secret.ts'
import { createStore } from '../store/index.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'
import type { Migration } from '../store/migrations/migration.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { check, doctor, migrate } from './check.ts'
import { rotate } from './secrets.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64')
const provider = { slug: 'acme', dialect: 'openai-chat', base_url: 'http://127.0.0.1:9101/v1', api_keys: ['key'] }
const guard = { slug: 'acme/guard', context_length: 8_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }

describe('signalbox check and doctor', () => {
  let folder: string
  let said: string[]
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-check-'))
    said = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  })
  afterEach(async () => {
    process.exitCode = 0
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true })
  })

  async function over(run: typeof check, file: object = {}): Promise<{ readonly out: string; readonly code: number }> {
    const config = join(folder, 'signalbox.json')
    await writeFile(config, JSON.stringify(file))
    said.length = 0
    process.exitCode = 0
    await run({ config, data: join(folder, 'data') })
    return { out: said.join(''), code: process.exitCode }
  }

  it.each<[string, object, RegExp]>([
    ['a default that is no plugin', { defaults: { plugins: [{ id: 'weeb' }] } }, /defaults\.plugins\[0\]\.id/],
    ['a setting out of its bounds', { defaults: { plugins: [{ id: 'web', max_results: 300 }] } }, /defaults\.plugins\[0\]\.max_results/],
    ['a misspelt setting', { defaults: { plugins: [{ id: 'web', max_result: 3 }] } }, /did you mean max_results\?/],
    ['moderation by nobody', { defaults: { plugins: [{ id: 'moderation' }] } }, /defaults\.plugins\[0\] \(line 1\): .*no model to ask/],
    ['engines that do not exist', { tools: { web_search: { engines: { gogle: {} } } } }, /tools\.web_search\.engines\.gogle/],
  ])('refuse configurations that serve refuses: %s', async (_, file, message) => {
    await expect(over(check, file)).rejects.toThrow(message)
    await expect(over(doctor, file)).rejects.toThrow(message)
  })

  it('name what serve names, of models and of destinations together', async () => {
    const file = { defaults: { model: 'acme/nobody' }, destinations: { base_urls: { opikk: 'http://opik' } } }
    const both = /^2 problems .*\n  defaults\.model .*\n  destinations\.base_urls\.opikk /
    await expect(over(check, file)).rejects.toThrow(both)
    const config = await loadConfig({ file: join(folder, 'signalbox.json'), env: {}, cwd: folder })
    await expect(createApp({ config, env: {}, logger: silentLogger })).rejects.toThrow(
      /^2 problems .*\n  defaults\.model: .*\n  destinations\.base_urls\.opikk: /,
    )
  })

  it('pass configurations that serve accepts', async () => {
    const file = {
      providers: [provider],
      models: [guard],
      plugins: { moderation: { model: 'acme/guard' } },
      defaults: {
        plugins: [
          { id: 'moderation', prevent_overrides: true },
          { id: 'web', max_results: 3, enabled: false },
        ],
      },
    }
    expect(await over(check, file)).toMatchObject({ code: 0, out: expect.stringContaining('acme/guard') })
  })

  it('say which endpoints have no known price: what they answer counts as nothing', async () => {
    const endpoints = [
      { provider: 'acme', upstream_model: 'a', pricing: { input: 1, output: 1 } },
      { provider: 'acme/mine', upstream_model: 'b' },
    ]
    const { out } = await over(check, { providers: [provider], models: [{ slug: 'acme/small', endpoints }] })
    expect(out).toMatch(/^ {2}acme\/small: acme \(a\), acme\/mine \(b, no known price\)$/m)
  })

  it(verifies('P27', 'name a fallback that no request can reach, and fail'), async () => {
    const short = { provider: 'acme/spare', upstream_model: 'b', context_length: 1, pricing: { input: 1, output: 1 } }
    const models = [{ slug: 'acme/small', endpoints: [{ provider: 'acme', upstream_model: 'a', pricing: { input: 1, output: 1 } }, short] }]
    const { out, code } = await over(check, { providers: [provider], models })
    expect(out).toMatch(/^unreachable: acme\/spare for acme\/small: ./m)
    expect(code).toBe(1)
  })

  it('show which proxy requests go through without passwords, and refuse an invalid proxy variable', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://user:hidden@proxy.test:3128')
    vi.stubEnv('NO_PROXY', '.svc')
    expect((await over(check)).out).toMatch(/^proxy: https through http:\/\/proxy\.test:3128, but for \.svc$/m)
    vi.stubEnv('HTTPS_PROXY', 'socks5://user:hidden@proxy.test:1080')
    for (const run of [check, doctor]) await expect(over(run)).rejects.toThrow(/HTTPS_PROXY: not the address of a proxy(?!.*hidden)/)
  })

  it('list every known provider with what switches it on', async () => {
    vi.stubEnv('MISTRAL_API_KEY', 'k')
    const file = { providers: [provider, { slug: 'openai', enabled: false }] }
    const { out } = await over((options) => check({ ...options, providers: true }), file)
    expect(out).toMatch(/^ {2}acme +on$/m)
    expect(out).toMatch(/^ {2}mistral +on$/m)
    expect(out).toMatch(/^ {2}groq +off: set GROQ_API_KEY$/m)
    expect(out).toMatch(/^ {2}openai +off: the configuration disables it$/m)
    expect((await over(check, file)).out).not.toContain('GROQ_API_KEY')
  })

  it('report a secret key from before a rotation, which serve would refuse', async () => {
    vi.stubEnv('SIGNALBOX_SECRET_KEY', KEY)
    await over(migrate)
    await leave({})
    expect(await over(doctor)).toMatchObject({ code: 0 })
    vi.stubEnv('SIGNALBOX_NEW_SECRET_KEY', OTHER_KEY)
    await over(rotate)
    expect(await over(doctor)).toMatchObject({ code: 1, out: expect.stringMatching(/secret key: The secret key .* is not the one/) })
    vi.stubEnv('SIGNALBOX_SECRET_KEY', OTHER_KEY)
    const { code, out } = await over(doctor)
    expect([code, out.includes('is not the one')]).toEqual([0, false])
  })

  /** A database as a gateway with KEY leaves it, brought up to `migrations`, with one secret if it has them all. */
  async function leave({ migrations, secret = false }: { readonly migrations?: readonly Migration[]; readonly secret?: boolean }): Promise<void> {
    const store = await createStore({ path: join(folder, 'data', 'signalbox.db'), ...defined({ migrations }) })
    await store.migrate()
    const encryption = createEncryption({ current: Buffer.from(KEY, 'base64') })
    if (!secret) await verifySecretKey(encryption, store.facts)
    else {
      await store.workspaces.default()
      await store.destinations.insert(sampleDestination('d', { sealed: encryption.seal(new Secret('{}'), 'destination:d:webhook') }), 5)
    }
    await store.close()
  }

  it('say that a newer version has migrated the database, which is no fault', async () => {
    const newer: Migration = { name: '9999-newer', up: async () => undefined }
    vi.stubEnv('SIGNALBOX_SECRET_KEY', KEY)
    await over(migrate)
    await leave({ migrations: [...MIGRATIONS, newer] })
    const note = expect.stringMatching(/^database: The database was migrated by a newer version of Signalbox .*9999-newer/m)
    expect(await over(doctor)).toMatchObject({ code: 0, out: note })
    expect((await over(migrate)).out).toMatch(/^The database was migrated by a newer version of Signalbox .*9999-newer/m)
  })

  it('report a secret key that is newer than the database, even if migrations are pending', async () => {
    vi.stubEnv('SIGNALBOX_SECRET_KEY', OTHER_KEY)
    await mkdir(join(folder, 'data'))
    await leave({ migrations: MIGRATIONS.slice(0, 2) })
    expect(await over(doctor)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/migrations pending: 0003.*\nsecret key: The secret key .* is not the one/),
    })
  })

  it('report a secret key that cannot decrypt the stored secrets, even without the canary of a start', async () => {
    vi.stubEnv('SIGNALBOX_SECRET_KEY', OTHER_KEY)
    await over(migrate)
    await leave({ secret: true })
    expect(await over(doctor)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/secret key: 1 of the secrets in this database .* cannot be decrypted with it/),
    })
    vi.stubEnv('SIGNALBOX_SECRET_KEY', KEY)
    expect(await over(doctor)).toMatchObject({ code: 0 })
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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
    ['moderation by nobody', { defaults: { plugins: [{ id: 'moderation' }] } }, /defaults\.plugins\[0\]: .*nobody to judge/],
    ['engines that do not exist', { tools: { web_search: { engines: { gogle: {} } } } }, /tools\.web_search\.engines\.gogle/],
  ])('refuse what serve refuses: %s', async (_, file, message) => {
    await expect(over(check, file)).rejects.toThrow(message)
    await expect(over(doctor, file)).rejects.toThrow(message)
  })

  it('pass what serve takes', async () => {
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

  it('name the key a database was rotated away from, which serve would refuse', async () => {
    vi.stubEnv('SIGNALBOX_SECRET_KEY', KEY)
    await over(migrate)
    expect(await over(doctor)).toMatchObject({ code: 0 })
    vi.stubEnv('SIGNALBOX_NEW_SECRET_KEY', OTHER_KEY)
    await over(rotate)
    expect(await over(doctor)).toMatchObject({ code: 1, out: expect.stringMatching(/secret key: The secret key .* is not the one/) })
    vi.stubEnv('SIGNALBOX_SECRET_KEY', OTHER_KEY)
    const { code, out } = await over(doctor)
    expect([code, out.includes('is not the one')]).toEqual([0, false])
  })
})

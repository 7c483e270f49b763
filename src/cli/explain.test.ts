import { afterEach, describe, expect, it, vi } from 'vitest'
import { buildCatalog } from '../catalog/build.ts'
import { loadConfig } from '../config/load.ts'
import { dialects } from '../dialects/index.ts'
import { PROVIDERS } from '../providers/index.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explain, findUnreachable } from './explain.ts'
import { verifies } from '../../e2e/requirements.ts'

async function unreachable(file: object): Promise<ReturnType<typeof findUnreachable>> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-check-'))
  try {
    await writeFile(join(folder, 'signalbox.json'), JSON.stringify(file))
    const config = await loadConfig({ file: join(folder, 'signalbox.json'), env: {}, cwd: folder })
    return findUnreachable(await buildCatalog(config, PROVIDERS, dialects, {}), config)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const provider = (slug: string) => ({ slug, dialect: 'openai-chat', base_url: `http://127.0.0.1:9101/${slug}/v1`, api_keys: ['key'] })
const endpoint = (tag: string, more: object = {}) => ({ provider: tag, upstream_model: 'small-1', pricing: { input: 1, output: 2 }, ...more })
const model = (...endpoints: object[]) => ({ slug: 'acme/small', context_length: 128_000, endpoints })

describe('the check that every configured fallback can be reached', () => {
  it('holds for fallbacks, service tiers and variants', async () => {
    const models = [
      model(
        endpoint('acme'),
        endpoint('backup', { pricing: { input: 100, output: 200 } }),
        endpoint('backup/flex', { tier: 'flex' }),
        endpoint('backup/free', { variant: 'free' }),
      ),
    ]
    expect(await unreachable({ providers: [provider('acme'), provider('backup')], models })).toEqual([])
  })

  it('holds for models that make embeddings', async () => {
    const vectors = { slug: 'acme/mystery', answers: 'embeddings', endpoints: [{ provider: 'acme', upstream_model: 'mystery-1' }] }
    expect(await unreachable({ providers: [provider('acme')], models: [vectors] })).toEqual([])
  })

  it(verifies('P27', 'names an endpoint whose window is too short for any request'), async () => {
    const found = await unreachable({
      providers: [provider('acme'), provider('backup')],
      models: [model(endpoint('acme'), endpoint('backup', { context_length: 1 }))],
    })
    expect(found).toEqual([{ model: 'acme/small', tag: 'backup', reason: expect.stringContaining('context of 1 tokens is too short') }])
  })
})

describe('signalbox explain', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('shows the share of calls that the weights of a configuration give', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-explain-'))
    const config = join(folder, 'signalbox.json')
    const said: string[] = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
    try {
      const endpoints = [endpoint('acme', { weight: 9 }), endpoint('canary'), endpoint('spare', { weight: 0 })]
      await writeFile(config, JSON.stringify({ providers: ['acme', 'canary', 'spare'].map(provider), models: [model(...endpoints)] }))
      await explain({ model: 'acme/small', json: true }, { config })
    } finally {
      await rm(folder, { recursive: true })
    }
    const { attempts } = JSON.parse(said.join('')) as { attempts: readonly { tag: string; score: { share: number } }[] }
    expect(Object.fromEntries(attempts.map(({ tag, score }) => [tag, score.share]))).toEqual({
      acme: expect.closeTo(0.9, 9),
      canary: expect.closeTo(0.1, 9),
      spare: 0,
    })
  })

  it('says in one sentence that the body cannot be read, or is not JSON', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-explain-'))
    const file = join(folder, 'body.json')
    try {
      const ask = () => explain({ file, json: true }, { config: '/dev/null' })
      await expect(ask()).rejects.toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining(`${file} cannot be read (ENOENT)`) })
      await writeFile(file, '{"model": ')
      await expect(ask()).rejects.toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining(`${file} is not valid JSON: `) })
      await writeFile(file, '[1]')
      await expect(ask()).rejects.toMatchObject({ errorType: 'invalid_request' })
      await expect(explain({ file, model: 'demo/echo', json: true }, { config: '/dev/null' })).rejects.toThrow('must be an object, not an array')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('shows the models that a router chooses', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-explain-'))
    const file = join(folder, 'signalbox.json')
    const written: string[] = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    try {
      await writeFile(file, JSON.stringify({ providers: [provider('acme')], models: [model(endpoint('acme'))] }))
      await explain({ model: 'gateway/auto', json: true }, { config: file })
    } finally {
      await rm(folder, { recursive: true })
    }
    expect(JSON.parse(written.join(''))).toMatchObject({
      requested: 'gateway/auto',
      strategy: 'auto',
      attempts: [{ model: 'acme/small' }],
      params: { router: { name: 'auto-router' } },
      error: null,
    })
  })
})

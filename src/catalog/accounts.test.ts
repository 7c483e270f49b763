import { describe, expect, it } from 'vitest'
import type { ProviderConfig } from '../core/config.ts'
import { ConfigError } from '../core/config-error.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { dialects } from '../dialects/index.ts'
import { Secret } from '../lib/secret.ts'
import { PROVIDERS } from '../providers/index.ts'
import { buildCatalog, type BuiltCatalog } from './build.ts'
import { listModels } from './list-models.ts'

/** A vendor with several accounts, regions or resources. */
const KEY = [new Secret('key-of-another-account')]

type Entry = Partial<ProviderConfig> & { readonly slug: string }

const build = (entries: readonly Entry[], env: { readonly [name: string]: string } = {}): Promise<BuiltCatalog> =>
  buildCatalog(
    {
      providers: entries.map((entry) => ({ options: {}, timeouts: {}, headers: {}, settings: {}, enabled: true, policies: {}, ...entry })),
      models: [],
      catalog: { open: true },
      defaults: { plugins: [] },
      tools: {},
      plugins: { moderation: { whenUnavailable: 'refuse' }, codingScores: {} },
    },
    PROVIDERS,
    dialects,
    env,
  )
const problemsOf = async (...entries: Entry[]): Promise<readonly string[]> => {
  const error: unknown = await build(entries).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ConfigError)) throw new Error('it was built')
  return error.problems.map(({ path, message }) => `${path}: ${message}`)
}
const served = (catalog: BuiltCatalog, model: string, provider: string): Endpoint =>
  catalog.find(model)!.endpoints.find((one) => one.provider === provider)!

describe('another account of a vendor', () => {
  it('has the format, URL, key header, models and prices of the vendor', async () => {
    const catalog = await build([{ slug: 'openai-eu', vendor: 'openai', apiKeys: KEY, baseUrl: 'https://eu.api.openai.com/v1' }], {
      OPENAI_API_KEY: 'key',
    })
    const [first, second] = [served(catalog, 'openai/gpt-5-mini', 'openai'), served(catalog, 'openai/gpt-5-mini', 'openai-eu')]
    expect(second).toMatchObject({
      tag: 'openai-eu',
      vendor: { slug: 'openai', name: 'OpenAI' },
      providerName: 'OpenAI (openai-eu)',
      upstreamModel: first.upstreamModel,
    })
    expect(second.pricing).toEqual(first.pricing)
    expect(second.supports).toEqual(first.supports)
    expect(second.connection.dialect).toBe(first.connection.dialect)
    expect(second.connection.baseUrl).toBe('https://eu.api.openai.com/v1')
    expect(second.connection.credentials.map(({ secret }) => secret.reveal())).toEqual(['key-of-another-account'])
    expect(second.connection.scope).not.toBe(first.connection.scope)
    expect(first.vendor).toBeUndefined()
  })

  it('is signed for as the vendor requires', async () => {
    const catalog = await build([{ slug: 'azure-us', vendor: 'azure', apiKeys: KEY, settings: { resource: 'my-us' } }])
    const { connection } = catalog.find('azure-us/my-deployment')!.endpoints[0]!
    expect(connection.baseUrl).toBe('https://my-us.openai.azure.com/openai/v1')
    const signed = await connection.sign!(
      { method: 'POST', path: '/x', url: 'https://x', headers: {}, body: '' },
      connection.credentials[0],
      new AbortController().signal,
    )
    expect(signed.headers).toMatchObject({ 'api-key': 'key-of-another-account' })
  })

  it('reads no environment variables, because they belong to the first account', async () => {
    const env = { AZURE_API_KEY: 'of-the-first', AZURE_OPENAI_ENDPOINT: 'https://my-eu.openai.azure.com', AZURE_RESOURCE_NAME: 'my-eu' }
    const catalog = await build([{ slug: 'azure-us', vendor: 'azure', apiKeys: KEY, baseUrl: 'https://my-us.openai.azure.com' }], env)
    expect(catalog.find('azure-us/d')!.endpoints[0]!.connection.baseUrl).toBe('https://my-us.openai.azure.com/openai/v1')
    expect(catalog.find('azure/d')!.endpoints[0]!.connection.baseUrl).toBe('https://my-eu.openai.azure.com/openai/v1')
    const claude = catalog.find('azure-us/claude-opus-4-5')!.endpoints[0]!
    expect(claude.connection.baseUrl).toContain('my-us')
    await expect(build([{ slug: 'azure-us', vendor: 'azure', settings: { resource: 'my-us' } }], env)).rejects.toThrow(/api_keys/)
  })

  it('serves beside the first, or without it', async () => {
    const catalog = await build([{ slug: 'claude-2', vendor: 'anthropic', apiKeys: KEY, name: 'Claude of the other team' }])
    const [endpoint, ...others] = catalog.find('anthropic/claude-sonnet-4.5')!.endpoints
    expect([endpoint!.providerName, others]).toEqual(['Claude of the other team', []])
    expect(catalog.providers.map(({ slug }) => slug)).toContain('claude-2')
  })

  it('serves unlisted models by the vendor’s name as well, where the first is missing', async () => {
    const twins = [
      { slug: 'claude-2', vendor: 'anthropic', apiKeys: KEY },
      { slug: 'claude-3', vendor: 'anthropic', apiKeys: KEY },
    ]
    const served = async (entries: readonly Entry[]): Promise<unknown> =>
      (await build(entries)).find('anthropic/claude-of-tomorrow')?.endpoints.map(({ provider, upstreamModel }) => [provider, upstreamModel])
    expect(await served(twins)).toEqual([
      ['claude-2', 'claude-of-tomorrow'],
      ['claude-3', 'claude-of-tomorrow'],
    ])
    // The other accounts need not have a deployment that the first one serves under its own name.
    expect(await served([...twins, { slug: 'anthropic', apiKeys: KEY }])).toEqual([['anthropic', 'claude-of-tomorrow']])
    expect(await served(twins.map((entry) => ({ ...entry, open: false })))).toBeUndefined()
  })

  it('is included wherever the vendor is named, in lists of models as well', async () => {
    const catalog = await build([{ slug: 'vertex-eu', vendor: 'openai', apiKeys: KEY }])
    const listed = (name: string): number => listModels(catalog, new URLSearchParams({ providers: name })).data.length
    expect(listed('openai')).toBe(listed('vertex-eu'))
    expect(listed('openai')).toBeGreaterThan(10)
  })

  it.each([
    ['a vendor nobody knows', { slug: 'two', vendor: 'azuer' }, 'providers[0].vendor: "azuer" is no built-in provider; did you mean azure?'],
    [
      'nothing like one',
      { slug: 'two', vendor: 'xqzw' },
      'providers[0].vendor: "xqzw" is no built-in provider; expected the slug of one (signalbox check --providers lists them)',
    ],
    [
      'the slug of a built-in',
      { slug: 'groq', vendor: 'openai' },
      'providers[0].slug: "groq" is a built-in provider; expected a slug of its own for another account',
    ],
    ['no keys', { slug: 'two', vendor: 'openai' }, 'providers[0].api_keys: missing; expected a list of keys (null when the server needs none)'],
  ])('is refused for %s', async (_what, entry, problem) => expect(await problemsOf(entry)).toEqual([problem]))
})

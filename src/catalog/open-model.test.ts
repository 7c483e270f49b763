import { expect, it } from 'vitest'
import type { EndpointConfig } from '../core/config.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { dialects } from '../dialects/index.ts'
import { Secret } from '../lib/secret.ts'
import { PROVIDERS } from '../providers/index.ts'
import { buildCatalog, type BuiltCatalog } from './build.ts'

const LISTED: EndpointConfig = { provider: 'acme', upstreamModel: 'l-1', unsupported: [], policies: {}, options: {} }

/** Models that callers name by a provider and the provider's own id. */
const build = (...listed: readonly Partial<EndpointConfig>[]): Promise<BuiltCatalog> =>
  buildCatalog(
    {
      providers: [
        {
          slug: 'acme',
          dialect: 'gemini',
          baseUrl: 'http://127.0.0.1:9/v1',
          apiKeys: [new Secret('key')],
          open: true,
          options: {},
          timeouts: {},
          headers: {},
          settings: {},
          enabled: true,
          policies: {},
        },
      ],
      models: [
        {
          slug: 'house/large',
          aliases: ['large'],
          endpoints: (listed.length === 0 ? [{}] : listed).map((entry) => ({ ...LISTED, ...entry })),
        },
      ],
      catalog: { open: true },
      defaults: { plugins: [] },
      tools: {},
      plugins: { moderation: { whenUnavailable: 'refuse' }, codingScores: {} },
    },
    PROVIDERS,
    dialects,
    { GEMINI_API_KEY: 'key', OPENAI_API_KEY: 'key' },
    { now: Date.UTC(2026, 10, 28) },
  )

const endpointOf = (catalog: BuiltCatalog, name: string): Endpoint | undefined => catalog.find(name)?.endpoints[0]

it('is known as the model of the catalog that it is', async () => {
  const catalog = await build()
  const knownAs = (name: string) => endpointOf(catalog, name)?.knownAs
  expect(knownAs('google-ai-studio/gemini-2.5-pro')).toEqual(['google/gemini-2.5-pro'])
  expect(knownAs('google-ai-studio/models/gemini-2.5-pro')).toEqual(['google/gemini-2.5-pro'])
  expect(knownAs('openai/gpt-5-2025-08-07')).toEqual(['openai/gpt-5'])
  expect(knownAs('acme/google/gemini-2.5-pro:free')).toEqual(['google/gemini-2.5-pro', 'google/gemini-2.5-pro:free'])
  expect(knownAs('acme/l-1')).toEqual(['house/large', 'large'])
  expect(knownAs('acme/unheard-of')).toBeUndefined()
  expect(knownAs('google/gemini-2.5-pro')).toBeUndefined()
})

it('has what the operator says of it, whatever it is called', async () => {
  const said = { pricing: { input: 3, output: 9 }, policies: { zdr: true }, maxOutputTokens: 7, rateLimits: { requestsPerMinute: 5 } }
  const catalog = await build(said)
  const listed = endpointOf(catalog, 'house/large')!
  const { id, model, ...opened } = endpointOf(catalog, 'acme/l-1')!
  expect([id, model]).toEqual(['acme/l-1@acme#l-1', 'acme/l-1'])
  expect(opened).toMatchObject({ pricing: said.pricing, policies: { zdr: true }, maxOutputTokens: 7, limits: listed.limits })
  expect(endpointOf(await build({ ...said, variant: 'free' }), 'acme/l-1')!.pricing).toEqual({})
  // Vendors also take an id in the folder of their models. It is sent as listed, because formats and addresses may differ with the folder.
  expect(endpointOf(catalog, 'acme/models/l-1')).toMatchObject({
    id: 'acme/models/l-1@acme#l-1',
    upstreamModel: 'l-1',
    knownAs: ['acme/l-1', 'house/large', 'large'],
    limits: listed.limits,
  })
  const filed = await build({ ...said, upstreamModel: 'models/l-1' })
  expect(endpointOf(filed, 'acme/l-1')).toMatchObject({ upstreamModel: 'models/l-1', pricing: said.pricing })
  expect(endpointOf(filed, 'acme/others/models/l-1')!.pricing).toEqual({})
})

it('is served by all regions and tiers that are listed for it', async () => {
  const catalog = await build({ region: 'us' }, { region: 'eu', policies: { zdr: true } }, { tier: 'flex' }, { variant: 'free' })
  const opened = catalog.find('acme/l-1')!.endpoints
  expect(opened.map(({ tag, tier, policies }) => [tag, tier, policies.zdr])).toEqual([
    ['acme/us', 'default', false],
    ['acme/eu', 'default', true],
    ['acme/flex', 'flex', false],
  ])
})

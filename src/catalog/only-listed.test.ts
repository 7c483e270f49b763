import { describe, expect, it } from 'vitest'
import type { EndpointConfig, ModelConfig } from '../core/config.ts'
import { dialects } from '../dialects/index.ts'
import { Secret } from '../lib/secret.ts'
import { PROVIDERS } from '../providers/index.ts'
import { buildCatalog, type BuiltCatalog } from './build.ts'

/** Models that are served only by the endpoints that an operator lists (`models[].only_listed`). */
const KEY = [new Secret('key')]
const ENV = { OPENAI_API_KEY: 'key', OPENROUTER_API_KEY: 'key' }

const listed = (provider: string, more: Partial<EndpointConfig> = {}): EndpointConfig => ({
  provider,
  upstreamModel: 'my-deployment',
  unsupported: [],
  policies: {},
  options: {},
  ...more,
})

const build = (model: Partial<ModelConfig>, azureIsOn = true): Promise<BuiltCatalog> => {
  const azure = { slug: 'azure', apiKeys: KEY, settings: { resource: 'mine' }, enabled: azureIsOn }
  return buildCatalog(
    {
      providers: [{ options: {}, timeouts: {}, headers: {}, policies: {}, ...azure }],
      models: [{ slug: 'openai/gpt-5-mini', aliases: ['team-default'], endpoints: [listed('azure')], ...model }],
      catalog: { open: true },
      defaults: { plugins: [] },
      tools: {},
      plugins: { moderation: { whenUnavailable: 'refuse' }, codingScores: {} },
    },
    PROVIDERS,
    dialects,
    ENV,
  )
}
const tagsOf = (catalog: BuiltCatalog, name: string): readonly string[] => (catalog.find(name)?.endpoints ?? []).map(({ tag }) => tag).toSorted()

describe('a model restricted to its listed endpoints', () => {
  it('is served by no other provider that has it, under any of its names', async () => {
    const open = await build({})
    expect(tagsOf(open, 'openai/gpt-5-mini')).toEqual(['azure', 'openai', 'openrouter'])
    const closed = await build({ onlyListed: true })
    for (const name of ['openai/gpt-5-mini', 'team-default', 'gpt-5-mini', 'gpt-5-mini:nitro']) expect(tagsOf(closed, name)).toEqual(['azure'])
  })

  it('keeps its known properties', async () => {
    const [open, closed] = [await build({}), await build({ onlyListed: true })].map((catalog) => catalog.find('team-default')!)
    expect(closed!.name).toBe(open!.name)
    expect(closed!.contextLength).toBe(open!.contextLength)
    expect(closed!.endpoints[0]!.supports).toEqual(open!.endpoints.find(({ tag }) => tag === 'azure')!.supports)
  })

  it('has no endpoint while the listed ones are gone, not even at a provider that accepts any name', async () => {
    const catalog = await build({ onlyListed: true }, false)
    for (const name of ['openai/gpt-5-mini', 'team-default', 'gpt-5-mini']) expect(catalog.find(name)).toBeUndefined()
    expect(tagsOf(catalog, 'openai/gpt-5-nano')).toContain('openai')
  })

  it('holds for its variants', async () => {
    const catalog = await build({ onlyListed: true, endpoints: [listed('azure'), listed('azure', { variant: 'free' })] })
    expect(tagsOf(catalog, 'openai/gpt-5-mini:free')).toEqual(['azure'])
    const none = await build({ onlyListed: true })
    expect(none.find('openai/gpt-5-mini:free')).toBeUndefined()
  })

  it('is still found if the request names a provider', async () => {
    expect(tagsOf(await build({ onlyListed: true }), 'azure/other-deployment')).toEqual(['azure'])
  })
})

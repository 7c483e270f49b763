import { describe, expect, it } from 'vitest'
import { buildCatalog, type CatalogConfig } from '../catalog/build.ts'
import { loadPriceBook } from '../catalog/price-book.ts'
import { dialects } from '../dialects/index.ts'
import { PROVIDERS } from './index.ts'

/** The price data use common names of models. A vendor may require another id, and does not know the model by the common name. */

const NOW = Date.parse('2026-06-01T00:00:00Z')
const config: CatalogConfig = {
  providers: [],
  models: [],
  catalog: { open: true },
  defaults: { plugins: [] },
  tools: {},
  plugins: { moderation: { whenUnavailable: 'refuse' }, codingScores: {} },
}
const KEYS = { MISTRAL_API_KEY: 'k', COHERE_API_KEY: 'k', DEEPSEEK_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }
const catalog = await buildCatalog(config, PROVIDERS, dialects, KEYS, { now: NOW })
const idsOf = (slug: string, provider: string): readonly string[] | undefined =>
  catalog
    .find(slug)
    ?.endpoints.filter((endpoint) => endpoint.provider === provider)
    .map((endpoint) => endpoint.upstreamModel)

describe('the model id that a vendor gets', () => {
  it.each([
    ['mistralai/mistral-large', 'mistral', 'mistral-large-latest'],
    ['mistralai/magistral-medium', 'mistral', 'magistral-medium-latest'],
    ['mistralai/mistral-nemo', 'mistral', 'open-mistral-nemo'],
    ['mistralai/mistral-small-3.2-24b-instruct', 'mistral', 'mistral-small-2506'],
    ['mistralai/mistral-medium-3.1', 'mistral', 'mistral-medium'],
    ['cohere/command-a', 'cohere', 'command-a-03-2025'],
    ['openai/gpt-5.3-chat', 'openai', 'gpt-5.3-chat-latest'],
    ['deepseek/deepseek-chat', 'deepseek', 'deepseek-chat'],
    ['anthropic/claude-opus-4.1', 'anthropic', 'claude-opus-4-1'],
    ['anthropic/claude-opus-4-1', 'anthropic', 'claude-opus-4-1'],
    ['anthropic/claude-opus-4-1-20250805', 'anthropic', 'claude-opus-4-1-20250805'],
  ])('for %s', (slug, provider, id) => {
    expect(idsOf(slug, provider)).toEqual([id])
  })

  it('is of no model that is no longer served', () => {
    expect(catalog.models().filter((model) => model.slug.startsWith('deepseek/deepseek-v3'))).toEqual([])
  })
})

const renaming = PROVIDERS.filter((provider) => provider.models?.ids !== undefined)

it.each(renaming.map((provider) => [provider.slug, provider] as const))('%s renames only what the price data has', async (_slug, provider) => {
  const book = await loadPriceBook(NOW)
  const known = new Set(book.models(provider.priceProvider ?? provider.slug).map((model) => model.id))
  expect(Object.keys(provider.models?.ids ?? {}).filter((id) => !known.has(id))).toEqual([])
})

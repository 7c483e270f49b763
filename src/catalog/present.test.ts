import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { dialects } from '../dialects/index.ts'
import type { Pricing } from '../core/pricing.ts'
import { createUsage } from '../core/usage.ts'
import { PROVIDERS } from '../providers/index.ts'
import { buildCatalog, type BuiltCatalog } from './build.ts'
import type { Model } from '../core/endpoint.ts'
import { computeCost } from './cost.ts'
import { countModels, listModels, modelsQuery } from './list-models.ts'
import { presentEndpoints, presentPricing, presentProviders } from './present.ts'
import type { PublicPricing } from './public-shapes.ts'

let catalog: BuiltCatalog
beforeAll(async () => {
  const config = { providers: [], models: [], catalog: { open: true }, defaults: { plugins: [] } }
  catalog = await buildCatalog(
    config,
    PROVIDERS,
    dialects,
    { OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k', GROQ_API_KEY: 'k' },
    { now: Date.parse('2026-06-01') },
  )
})
const list = (query = '') => listModels(catalog, new URLSearchParams(query))
const ids = (query: string) => list(query).data.map((model) => model.id)

/** USD per million tokens, with overrides applied as the contract says: those whose conditions hold, the later one over the earlier. */
function readPrice({ overrides = [], ...base }: PublicPricing, key: 'prompt' | 'completion', tokens: number, clock: number): number {
  const applying = overrides.filter(
    ({ min_prompt_tokens: more = -1, utc_start: from = 0, utc_end: to = 2_400 }) =>
      tokens > more && (from <= to ? clock >= from && clock < to : clock >= from || clock < to),
  )
  return Number((Number(applying.findLast((entry) => entry[key] !== undefined)?.[key] ?? base[key]) * 1e6).toPrecision(6))
}

describe('prices', () => {
  test('announced for a day are listed from that day on, without a restart', () => {
    const day = Date.parse('2027-01-01')
    const windows = [{ from: 0, to: 86_400, since: day, input: 3, output: 4 }]
    const model = { ...catalog.models()[0]!, slug: 'acme/dated' }
    const dated = { ...model, endpoints: [{ ...model.endpoints[0]!, pricing: { input: 1, output: 2, windows } }] }
    const dearer: BuiltCatalog = { ...catalog, models: () => [dated], find: () => undefined }
    const listed = (now: number) => listModels(dearer, new URLSearchParams(), undefined, now).data.map(({ pricing }) => pricing.prompt)
    expect([listed(day - 1), listed(day), listed(day + 1)]).toEqual([['0.000001'], ['0.000003'], ['0.000003']])
  })
  test('are decimal strings per token', () => {
    expect(presentPricing({ input: 1.25, output: 10, cacheRead: 0.125, request: 0.01 })).toEqual({
      prompt: '0.00000125',
      completion: '0.00001',
      input_cache_read: '0.000000125',
      request: '0.01',
    })
  })
  test('that are unknown are -1, never 0', () => {
    expect(presentPricing({})).toEqual({ prompt: '-1', completion: '-1' })
    expect(presentPricing({ input: 0, output: 0 })).toEqual({ prompt: '0', completion: '0' })
  })
  test('of pictures have the contract’s name', () => {
    expect(presentPricing({ input: 0.3, output: 2.5, outputImage: 30 })).toMatchObject({ completion: '0.0000025', image_output: '0.00003' })
  })
  test('by tier and hour become overrides', () => {
    const pricing = { input: 1, output: 2, tiers: [{ fromInputTokens: 200_001, input: 2 }], windows: [{ from: 59_400, to: 1_800, output: 4 }] }
    expect(presentPricing(pricing).overrides).toEqual([
      { completion: '0.000004', utc_start: 1_630, utc_end: 30 },
      { prompt: '0.000002', min_prompt_tokens: 200_000 },
    ])
  })
  test('match the cost of a call if overrides are applied as in the contract', () => {
    const pricing: Pricing = {
      input: 1,
      output: 2,
      tiers: [
        { fromInputTokens: 128_001, input: 4 },
        { fromInputTokens: 32_001, input: 3 },
      ],
      windows: [
        { from: 7_200, to: 10_800, input: 0.5, output: 1 },
        { from: 0, to: 86_400, input: 0.7, output: 1.5 },
      ],
    }
    const shown = presentPricing(pricing)
    for (const tokens of [1, 32_000, 32_001, 128_000, 128_001])
      for (const hour of [0, 2, 3, 23]) {
        const usage = createUsage({ inputTokens: tokens, outputTokens: 1_000_000 })
        const { input, output } = computeCost(usage, pricing, {}, Date.UTC(2026, 0, 1, hour))
        const read = (key: 'prompt' | 'completion') => readPrice(shown, key, tokens, hour * 100)
        expect([tokens, hour, read('prompt'), read('completion')]).toEqual([tokens, hour, Number(((input / tokens) * 1e6).toPrecision(6)), output])
      }
  })
})

describe('the list of models', () => {
  test('shows a model as the contract has it', () => {
    expect(list('q=openai/gpt-5&limit=1000').data.find((model) => model.id === 'openai/gpt-5')).toMatchObject({
      canonical_slug: 'openai/gpt-5',
      context_length: 400_000,
      pricing: { prompt: '0.00000125', completion: '0.00001' },
      architecture: { tokenizer: 'GPT', modality: 'text+image+file->text' },
      per_request_limits: null,
      default_parameters: null,
      supported_voices: null,
      // Every effort and budget is accepted, so clients offer a choice.
      reasoning: { mandatory: false, supported_efforts: null, supports_max_tokens: true },
    })
    expect(list('q=openai/gpt-4o-mini&limit=1000').data.find((model) => model.id === 'openai/gpt-4o-mini')).not.toHaveProperty('reasoning')
  })

  test('pages, and says where the next page is', () => {
    const first = list('limit=2&q=gpt')
    expect(first.data).toHaveLength(2)
    expect(first.links.next).toBe('/api/v1/models?limit=2&q=gpt&offset=2')
    const second = listModels(catalog, new URLSearchParams(first.links.next?.split('?')[1]))
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id)
    expect(list('limit=1000').links.next).toBeNull()
    expect(list('limit=1000').total_count).toBe(countModels(catalog, new URLSearchParams()).data.count)
  })

  test('is complete without paging parameters', () => {
    const one = catalog.models()[0]!
    const many: BuiltCatalog = {
      ...catalog,
      models: () => Array.from({ length: 1_200 }, (_, n) => ({ ...one, slug: `acme/${n}` })),
      find: () => undefined,
    }
    const page = (query: string) => {
      const { data, total_count, links } = listModels(many, new URLSearchParams(query))
      return [data.length, total_count, links.next]
    }
    expect(page('')).toEqual([1_200, 1_200, null])
    expect(page('q=acme')).toEqual([1_200, 1_200, null])
    expect(page('offset=0')).toEqual([500, 1_200, '/api/v1/models?offset=500'])
    expect(page('offset=null')).toEqual([1_200, 1_200, null])
    expect(page('limit=1000')).toEqual([1_000, 1_200, '/api/v1/models?limit=1000&offset=1000'])
    expect(page('offset=700')).toEqual([500, 1_200, null])
  })

  test('shows the model behind a floating name', () => {
    const latest = list('q=claude-sonnet-latest').data[0]
    expect(latest?.id).toBe('~anthropic/claude-sonnet-latest')
    expect(catalog.find(latest?.alias_target?.slug ?? '')).toBeDefined()
  })

  test('contains configured aliases of a model as entries of their own, under the author of the model', () => {
    const base = catalog.find('openai/gpt-4.1-mini')!
    const named = { ...base, slug: 'openai/gpt-4.1-mini', aliases: ['team-default', 'house/small'] }
    const variant = { ...named, slug: 'openai/gpt-4.1-mini:extended' }
    const models = [named, variant]
    const find = (name: string): Model | undefined => models.find(({ slug }) => slug === name) ?? (named.aliases.includes(name) ? named : undefined)
    const listed = (query: string) => listModels({ ...catalog, models: () => models, find }, new URLSearchParams(query)).data
    expect(listed('').map(({ id, name, alias_target: target }) => [id, name, target?.slug])).toEqual([
      ['openai/gpt-4.1-mini', base.name, undefined],
      ['team-default', 'team-default', 'openai/gpt-4.1-mini'],
      ['house/small', 'house/small', 'openai/gpt-4.1-mini'],
      ['openai/gpt-4.1-mini:extended', base.name, undefined],
    ])
    expect(listed('model_authors=openai')).toHaveLength(4)
    expect(listed('model_authors=house')).toEqual([])
    expect(listed('q=team').map(({ links }) => links.details)).toEqual(['/api/v1/models/openai/gpt-4.1-mini/endpoints'])
  })

  test.each([
    ['model_authors=openai', (id: string) => id.replace('~', '').startsWith('openai/')],
    ['q=LLAMA', (id: string) => /llama/i.test(`${id} ${catalog.find(id)?.name}`)],
    ['providers=Groq', (id: string) => catalog.find(id)?.endpoints.some((endpoint) => endpoint.provider === 'groq') === true],
    ['providers=groq', (id: string) => catalog.find(id)?.endpoints.some((endpoint) => endpoint.provider === 'groq') === true],
    ['input_modalities=audio', (id: string) => catalog.find(id)?.endpoints.some((endpoint) => endpoint.inputModalities.has('audio')) === true],
    ['max_price=0', (id: string) => catalog.find(id)?.endpoints.some((endpoint) => endpoint.pricing.input === 0) === true],
    ['arch=claude', (id: string) => id.includes('claude')],
    ['context=1000000', (id: string) => (catalog.find(id)?.contextLength ?? 0) >= 1_000_000],
  ])('filters by %s', (query, holds) => {
    const found = ids(`${query}&limit=1000`)
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThan(list('limit=1000').total_count)
    expect(found.filter((id) => !holds(id))).toEqual([])
  })

  test('filters by age in whole days; a model without a release date has no age', () => {
    const now = Date.parse('2026-06-01T12:00:00Z')
    const base = catalog.find('openai/gpt-5')!
    const released = (slug: string, day: string | undefined): Model => ({
      ...base,
      slug,
      aliases: [],
      created: day === undefined ? 0 : Date.parse(day) / 1000,
    })
    const models = [released('acme/new', '2026-05-31T18:00:00Z'), released('acme/old', '2026-05-02'), released('acme/unknown', undefined)]
    const dated: BuiltCatalog = { ...catalog, models: () => models, find: (name) => models.find(({ slug }) => slug === name) }
    const aged = (query: string) => listModels(dated, new URLSearchParams(query), undefined, now).data.map(({ id }) => id)
    expect(aged('max_age_days=0')).toEqual(['acme/new'])
    expect(aged('min_age_days=1')).toEqual(['acme/old'])
    expect(aged('max_age_days=30')).toEqual(['acme/new', 'acme/old'])
    expect(aged('min_age_days=30&max_age_days=30')).toEqual(['acme/old'])
    expect(aged('min_age_days=31')).toEqual([])
    expect(aged('min_age_days=null&max_age_days=null')).toHaveLength(3)
    expect(countModels(dated, new URLSearchParams('max_age_days=0'), undefined, now).data.count).toBe(1)
  })

  test('filters by the region an endpoint says it is in', () => {
    const base = catalog.find('openai/gpt-5')!
    const at = (slug: string, ...regions: (string | undefined)[]): Model => ({
      ...base,
      slug,
      aliases: [],
      endpoints: regions.map((region) => ({ ...base.endpoints[0]!, ...(region === undefined ? {} : { region }) })),
    })
    const within = (query: string, models: readonly Model[]) => {
      const placed: BuiltCatalog = { ...catalog, models: () => models, find: (name) => models.find(({ slug }) => slug === name) }
      return listModels(placed, new URLSearchParams(query)).data.map(({ id }) => id)
    }
    const all = [at('a/eu', 'eu'), at('a/both', 'europe-west1', 'us-east5'), at('a/us', 'US'), at('a/asia', 'asia-south1'), at('a/none', undefined)]
    expect(within('region=eu', all)).toEqual(['a/eu', 'a/both'])
    expect(within('region=us', all)).toEqual(['a/both', 'a/us'])
    // A single endpoint must meet all conditions.
    const { policies } = base.endpoints[0]!
    const both = all[1]!
    const endpoints = both.endpoints.map((endpoint, n) => ({ ...endpoint, policies: { ...policies, zdr: n === 1 } }))
    expect(within('zdr=true&region=us', [{ ...both, endpoints }])).toEqual(['a/both'])
    expect(within('zdr=true&region=eu', [{ ...both, endpoints }])).toEqual([])
  })

  test('takes a price that is the bound itself, whatever its binary fraction', () => {
    for (const { pricing } of list('limit=1000').data.filter((model) => Number(model.pricing.prompt) >= 0)) {
      const perMillion = Number(`${pricing.prompt}e6`)
      const found = list(`min_price=${perMillion}&max_price=${perMillion}&limit=1000`).data
      expect(found.map((model) => model.pricing.prompt)).toContain(pricing.prompt)
    }
  })

  test('sorts by price with unknown prices last', () => {
    const prices = list('sort=pricing-low-to-high&limit=1000').data.map(({ pricing }) => Number(pricing.prompt) + Number(pricing.completion))
    const known = prices.filter((price) => price >= 0)
    expect(known).toEqual(known.toSorted((a, b) => a - b))
    expect(prices.slice(0, known.length)).toEqual(known)
  })

  test('ignores filters for which it has no data, as its schema says', () => {
    const asked = 'category=programming&min_coding_index=50&max_tool_success_rate=0.9&min_intelligence_index=null'
    expect(list(`${asked}&limit=1000`).total_count).toBe(list('limit=1000').total_count)
    const { properties } = z.toJSONSchema(modelsQuery, { io: 'input', unrepresentable: 'any' }) as {
      properties: { [name: string]: { description?: string } }
    }
    for (const name of ['category', 'min_coding_index', 'max_tool_success_rate', 'max_agentic_index'])
      expect(properties[name]?.description).toMatch(/without effect/i)
  })

  test('accepts null in nullable fields', () => {
    const nulls = ['offset', 'min_price', 'max_price', 'min_output_price', 'max_output_price'].map((name) => `${name}=null`).join('&')
    expect(list(`${nulls}&limit=2`).data).toEqual(list('limit=2').data)
    expect(countModels(catalog, new URLSearchParams(nulls))).toEqual(countModels(catalog, new URLSearchParams()))
  })

  test.each([
    ['limit=0', 'limit: '],
    ['limit=1001', 'limit: '],
    ['offset=-1', 'offset: '],
    ['sort=sideways', 'sort: '],
    ['min_price=cheap', 'min_price: a number is expected'],
    // A blank would be read as 0 and list free models only.
    ['max_price=%20', 'max_price: a number is expected'],
    ['max_output_price=1,5', 'max_output_price: a number is expected'],
    ['limit=many', 'limit: a whole number is expected'],
    ['limit=1.5', 'limit: a whole number is expected'],
    ['offset=x', 'offset: a whole number is expected'],
    ['context=128k', 'context: a whole number is expected'],
    ['min_age_days=-1', 'min_age_days: '],
    ['max_age_days=new', 'max_age_days: a whole number is expected'],
    ['region=mars', 'region: '],
    ['category=cooking', 'category: '],
    ['min_coding_index=good', 'min_coding_index: a number is expected'],
    ['max_tool_success_rate=1.5', 'max_tool_success_rate: '],
  ])('%s is refused by name', (query, said) => {
    expect(() => list(query)).toThrow(expect.objectContaining({ errorType: 'invalid_request', message: expect.stringContaining(said) as string }))
  })
})

test('endpoints of a model, with and without measurements', () => {
  const model = catalog.find('openai/gpt-5')
  if (model === undefined) throw new Error('the data lists gpt-5')
  const latency = { p50: 1, p75: 2, p90: 3, p99: 4 }
  const shown = presentEndpoints(model, (endpoint) => (endpoint.tag === 'openai' ? { latency, uptime5m: 99.5, degraded: true } : undefined))
  expect(shown.endpoints.map(({ tag, status, latency_last_30m, uptime_last_5m }) => ({ tag, status, latency_last_30m, uptime_last_5m }))).toEqual([
    { tag: 'openai', status: -1, latency_last_30m: latency, uptime_last_5m: 99.5 },
    { tag: 'openrouter', status: 0, latency_last_30m: null, uptime_last_5m: null },
  ])
})

test('providers', () => {
  expect(presentProviders(catalog).find((provider) => provider.slug === 'openai')).toMatchObject({
    name: 'OpenAI',
    privacy_policy_url: expect.stringMatching(/^https:/) as string,
    status_page_url: 'https://status.openai.com',
  })
})

const CONTRACT = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'), '../contract/openapi.json')

describe.skipIf(!existsSync(CONTRACT))("against the contract's schemas", () => {
  type Schemas = { readonly components: { readonly schemas: object } }
  const document = existsSync(CONTRACT) ? (JSON.parse(readFileSync(CONTRACT, 'utf8')) as Schemas) : { components: { schemas: {} } }
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ $id: 'contract', components: document.components })
  const errorsOf = (schema: string, value: unknown): readonly string[] => {
    // Compiled once: there are a thousand models.
    const validate = ajv.getSchema(`contract#/components/schemas/${schema}`)!
    void validate(JSON.parse(JSON.stringify(value)))
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
  }

  test('models', () => expect(errorsOf('ModelsListResponse', list('limit=1000'))).toEqual([]))
  test('count', () => expect(errorsOf('ModelsCountResponse', countModels(catalog, new URLSearchParams()))).toEqual([]))
  test('endpoints of every model', () => {
    // The contract's list of provider names is that of the public service, which does not include OpenRouter and the demo.
    const errors = catalog.models().flatMap((model) => errorsOf('ListEndpointsResponse', presentEndpoints(model)))
    expect(errors.filter((error) => !/provider_name must be equal/.test(error))).toEqual([])
  })
})

import { describe, expect, test } from 'vitest'
import type { ConfigError } from '../core/config-error.ts'
import type { ModelConfig, ProviderConfig } from '../core/config.ts'
import type { Dialect } from '../core/dialect.ts'
import { DEFAULT_TIMEOUTS } from '../core/provider.ts'
import { createUsage } from '../core/usage.ts'
import { dialects } from '../dialects/index.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { openAiResponses } from '../dialects/openai-responses/index.ts'
import { Secret } from '../lib/secret.ts'
import { PROVIDERS } from '../providers/index.ts'
import { buildCatalog, type CatalogConfig } from './build.ts'
import { UNKNOWN_CONTEXT_LENGTH } from './endpoints.ts'
import { computeCost } from './cost.ts'
import { loadPriceBook } from './price-book.ts'
import { presentPricing } from './present.ts'

const DIALECTS = new Map<string, Dialect>([
  [openAiChat.name, openAiChat],
  [openAiResponses.name, openAiResponses],
])
const NOW = Date.parse('2026-06-01T00:00:00Z')

type Env = { readonly [name: string]: string }

interface Given {
  readonly providers?: readonly (Partial<ProviderConfig> & { readonly slug: string })[]
  readonly models?: readonly (Omit<Partial<ModelConfig>, 'endpoints'> & {
    readonly slug: string
    readonly endpoints?: readonly Partial<ModelConfig['endpoints'][number]>[]
  })[]
  readonly open?: boolean
  readonly model?: string
  readonly plugins?: CatalogConfig['defaults']['plugins']
  readonly imageModel?: string
  readonly fusionModels?: readonly string[]
  readonly judge?: string
  readonly scores?: { readonly [model: string]: number }
}

function configOf({
  providers = [],
  models = [],
  open = true,
  model,
  plugins = [],
  imageModel,
  fusionModels,
  judge,
  scores = {},
}: Given): CatalogConfig {
  return {
    providers: providers.map((entry) => ({ options: {}, timeouts: {}, headers: {}, settings: {}, enabled: true, policies: {}, ...entry })),
    models: models.map((entry) => ({
      aliases: [],
      ...entry,
      endpoints: (entry.endpoints ?? []).map((endpoint) => ({
        provider: 'acme',
        upstreamModel: 'm',
        unsupported: [],
        policies: {},
        options: {},
        ...endpoint,
      })),
    })),
    catalog: { open },
    defaults: { plugins, ...(model === undefined ? {} : { model }) },
    tools: { ...(imageModel === undefined ? {} : { imageModel }), ...(fusionModels === undefined ? {} : { fusionModels }) },
    plugins: { moderation: { whenUnavailable: 'refuse', ...(judge === undefined ? {} : { model: judge }) }, codingScores: scores },
  }
}
const build = (given: Given = {}, env: Env = {}, known: ReadonlyMap<string, Dialect> = DIALECTS) =>
  buildCatalog(configOf(given), PROVIDERS, known, env, { now: NOW })

async function problemsOf(given: Given, env: Env = {}): Promise<readonly string[]> {
  const error: unknown = await build(given, env).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`)
}

const ACME = {
  slug: 'acme',
  name: 'Acme',
  dialect: 'openai-chat',
  baseUrl: 'http://127.0.0.1:9101/v1',
  apiKeys: [new Secret('k1'), new Secret('k2')],
}

describe('without configuration', () => {
  test('only the demo provider is on', async () => {
    const catalog = await build()
    expect(catalog.providers.map((provider) => provider.slug)).toEqual(['demo'])
    expect(catalog.models().every((model) => model.slug.startsWith('demo/'))).toBe(true)
    const echo = catalog.find('demo/echo')?.endpoints[0]
    expect(echo?.connection.transport).toBeTypeOf('function')
    expect(echo?.pricing).toEqual({ input: 0, output: 0 })
    expect(catalog.find('demo/nope')).toBeUndefined()
    expect(catalog.find('openai/gpt-5')).toBeUndefined()
  })
  test('explains for known providers that are off what switches them on, by slug and by author', async () => {
    const catalog = await build()
    expect(catalog.off?.('openai')).toEqual(['openai is known but off: set OPENAI_API_KEY.'])
    expect(catalog.off?.('demo')).toEqual([])
    expect(catalog.off?.('nobody')).toEqual([])
    expect((await build({ providers: [{ slug: 'openai', enabled: false }] })).off?.('openai')).toEqual([
      'openai is known but off: the configuration disables it.',
    ])
    expect((await build({}, { OPENAI_API_KEY: 'sk-1' })).off?.('openai')).toEqual([])
    // A name without its author works as well.
    expect(catalog.off?.('gpt-5')).toEqual(['openai is known but off: set OPENAI_API_KEY.'])
  })
})

test('providers say whether their operator pays for callers’ own keys, too', async () => {
  const { providers } = await build({ providers: [{ ...ACME, apiKeys: [], headers: { 'x-api-key': 'k' } }] })
  expect(providers.map(({ slug, operatorPays }) => [slug, operatorPays])).toEqual([
    ['acme', true],
    ['demo', undefined],
  ])
})

describe('names without an author', () => {
  const slugOf = (catalog: { find: (name: string) => { slug: string } | undefined }, name: string) => catalog.find(name)?.slug

  test('find the model of its vendor, as that vendor’s clients send them', async () => {
    const catalog = await build({}, { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2', GEMINI_API_KEY: 'sk-3' }, dialects)
    expect(slugOf(catalog, 'gpt-5')).toBe('openai/gpt-5')
    expect(slugOf(catalog, 'gpt-5:nitro')).toBe('openai/gpt-5')
    expect(slugOf(catalog, 'gemini-2.5-flash')).toBe('google/gemini-2.5-flash')
    expect(slugOf(catalog, 'text-embedding-3-small')).toBe('openai/text-embedding-3-small')
    expect(catalog.find('gpt-5')).toBe(catalog.find('openai/gpt-5'))
    // The catalog writes 4.5, its vendor 4-5.
    expect(slugOf(catalog, 'claude-haiku-4-5')).toBe('anthropic/claude-haiku-4.5')
    // No list knows models of this date, but the vendor may.
    expect(catalog.find('claude-opus-99-20990101')?.endpoints[0]).toMatchObject({ provider: 'anthropic', upstreamModel: 'claude-opus-99-20990101' })
    expect(catalog.find('gemini-99')?.endpoints[0]).toMatchObject({ provider: 'google-ai-studio', upstreamModel: 'gemini-99' })
    expect(slugOf(catalog, 'grok-4')).toBeUndefined()
    expect(slugOf(catalog, 'nonsense')).toBeUndefined()
    expect(slugOf(catalog, '')).toBeUndefined()
  })

  test('do not bypass a closed catalog', async () => {
    const catalog = await build({ open: false }, { ANTHROPIC_API_KEY: 'sk-2' }, dialects)
    expect(slugOf(catalog, 'claude-haiku-4-5')).toBe('anthropic/claude-haiku-4.5')
    expect(slugOf(catalog, 'claude-opus-99')).toBeUndefined()
  })
})

describe('built-in providers', () => {
  test('switch on by their variable, with models and prices', async () => {
    const catalog = await build({}, { OPENAI_API_KEY: 'sk-1' })
    const endpoint = catalog.find('openai/gpt-5')?.endpoints[0]
    expect(endpoint).toMatchObject({
      id: 'openai/gpt-5@openai#gpt-5',
      provider: 'openai',
      tag: 'openai',
      upstreamModel: 'gpt-5',
      contextLength: 400_000,
      reasonsByDefault: true,
      pricing: { input: 1.25, output: 10, cacheRead: 0.125 },
    })
    expect(endpoint?.connection).toMatchObject({ baseUrl: 'https://api.openai.com/v1', timeouts: DEFAULT_TIMEOUTS })
    expect(endpoint?.connection.dialect.name).toBe('openai-responses')
    expect(endpoint?.connection.credentials.map((credential) => credential.secret.reveal())).toEqual(['sk-1'])
    expect(endpoint?.supports.has('temperature')).toBe(false)
    expect(catalog.find('openai/gpt-4o')?.endpoints[0]?.supports.has('temperature')).toBe(true)
  })

  test('price pictures apart from text where the vendor does', async () => {
    const prices = await loadPriceBook(NOW)
    expect(prices.find('google', 'gemini-2.5-flash-image')?.pricing).toEqual({ input: 0.3, output: 2.5, outputImage: 30 })
  })

  test('price audio read from a cache apart from text where the vendor does', async () => {
    expect((await loadPriceBook(NOW)).find('google', 'gemini-2.5-flash')?.pricing).toMatchObject({ cacheRead: 0.03, cacheReadAudio: 0.1 })
  })

  test('speak another dialect where a model needs it', async () => {
    const catalog = await build({}, { OPENAI_API_KEY: 'k' })
    expect(catalog.find('openai/gpt-4o-search-preview')?.endpoints[0]?.connection.dialect.name).toBe('openai-chat')
  })

  test('list no transcribers or retired completion models', async () => {
    const catalog = await build({}, { OPENAI_API_KEY: 'k' })
    expect(catalog.models().filter((model) => /whisper|davinci|moderation|realtime|tts/.test(model.slug))).toEqual([])
  })

  test('make embeddings where the price data know a model and the format of its vendor has them', async () => {
    const env = { OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k', COHERE_API_KEY: 'k', MISTRAL_API_KEY: 'k' }
    const catalog = await build({}, env, dialects)
    const asked = (slug: string): readonly unknown[] => {
      const [endpoint] = catalog.find(slug)?.endpoints ?? []
      return [
        endpoint?.connection.dialect.name,
        [...(endpoint?.outputModalities ?? [])],
        endpoint?.pricing.output,
        [...(endpoint?.supports ?? ['none'])],
      ]
    }
    expect(asked('openai/text-embedding-3-small')).toEqual(['openai-embeddings', ['embeddings'], 0, []])
    expect(asked('google/gemini-embedding-001')).toEqual(['gemini-embeddings', ['embeddings'], 0, []])
    expect(asked('cohere/embed-v4.0')).toEqual(['cohere-embed', ['embeddings'], 0, []])
    expect(asked('mistralai/mistral-embed')).toEqual(['openai-embeddings', ['embeddings'], 0.1, []])
    const own = { dimensions_field: 'output_dimension', user: false }
    expect(catalog.find('mistralai/mistral-embed')?.endpoints[0]?.connection.options).toMatchObject(own)
  })

  test('list no models for vendors whose models are named by their users', async () => {
    const catalog = await build({}, { AZURE_OPENAI_API_KEY: 'k', AZURE_RESOURCE_NAME: 'r' }, dialects)
    expect(catalog.models().filter(({ slug }) => !slug.startsWith('demo/'))).toEqual([])
    expect(catalog.find('azure/text-embedding-3-small')?.endpoints[0]?.connection.dialect.name).toBe('openai-embeddings')
  })

  test('a server for embeddings only makes them with every model, whatever its name', async () => {
    const server = { ...ACME, dialect: 'openai-embeddings' }
    const catalog = await build({ providers: [server], models: [{ slug: 'acme/mystery', endpoints: [{ upstreamModel: 'm' }] }] }, {}, dialects)
    expect([...catalog.find('acme/mystery')!.endpoints[0]!.outputModalities]).toEqual(['embeddings'])
    const vendor = await build({}, { VOYAGE_API_KEY: 'k' }, dialects)
    const [listed, open] = ['voyage/voyage-3.5', 'voyage/anything'].map((slug) => vendor.find(slug)?.endpoints[0])
    expect(listed).toMatchObject({
      pricing: { input: 0.06, output: 0 },
      connection: { options: { dimensions_field: 'output_dimension', user: false } },
    })
    expect([...open!.outputModalities]).toEqual(['embeddings'])
  })

  test('vectors are priced by their input tokens, or per request', async () => {
    const priced = async (pricing: object): Promise<unknown> => {
      const endpoints = [{ upstreamModel: 'm', pricing }]
      const catalog = await build({ providers: [ACME], models: [{ slug: 'acme/embed', endpoints }] }, {}, dialects)
      return catalog.find('acme/embed')!.endpoints[0]!.pricing
    }
    expect(await priced({ input: 1 })).toEqual({ input: 1, output: 0 })
    expect(await priced({ request: 0.01 })).toEqual({ request: 0.01 })
  })

  test('a model declared for embeddings gets an error where no endpoint can make them', async () => {
    const server = { ...ACME, dialect: 'anthropic-messages' }
    const given = { providers: [server], models: [{ slug: 'acme/mystery', answers: 'embeddings' as const, endpoints: [{ upstreamModel: 'm' }] }] }
    await expect(build(given, {}, dialects)).rejects.toThrow(
      'models[0].endpoints[0].provider: Acme speaks anthropic-messages and makes no embeddings',
    )
  })

  test('make embeddings in a format of their own, and some models in another', async () => {
    const env = { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'us-east-1', GOOGLE_VERTEX_ACCESS_TOKEN: 'k', GOOGLE_VERTEX_PROJECT: 'p' }
    const catalog = await build({}, env, dialects)
    const asked = (slug: string): readonly unknown[] => {
      const [endpoint] = catalog.find(slug)?.endpoints ?? []
      return [endpoint?.connection.dialect.name, endpoint?.upstreamModel, [...(endpoint?.outputModalities ?? [])], endpoint?.pricing.input]
    }
    expect(asked('amazon/titan-embed-text')).toEqual(['titan-embed', 'amazon.titan-embed-text-v1', ['embeddings'], 0.1])
    expect(asked('amazon/titan-embed-text-v2')).toEqual(['titan-embed', 'amazon.titan-embed-text-v2:0', ['embeddings'], 0.02])
    expect(asked('amazon-bedrock/us.cohere.embed-v4:0').slice(0, 3)).toEqual(['cohere-embed', 'us.cohere.embed-v4:0', ['embeddings']])
    expect(catalog.find('amazon-bedrock/us.cohere.embed-v4:0')!.endpoints[0]!.connection.options).toMatchObject({ path: '/model/{model}/invoke' })
    expect(asked('google/gemini-embedding-001')).toEqual(['vertex-predict', 'gemini-embedding-001', ['embeddings'], 0.15])
    expect(asked('google/gemini-embedding-2')).toEqual(['vertex-embed-content', 'gemini-embedding-2', ['embeddings'], 0.2])
    expect(asked('google-vertex/text-embedding-005').slice(0, 3)).toEqual(['vertex-predict', 'text-embedding-005', ['embeddings']])
  })

  test('vendors whose formats have no embeddings have no such models', async () => {
    const chosen = { slug: 'amazon-bedrock', dialect: 'anthropic-invoke' }
    const env = { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'us-east-1' }
    const catalog = await build({ providers: [chosen] }, env, dialects)
    expect(catalog.models().length).toBeGreaterThan(0)
    expect(catalog.models().filter(({ slug }) => /embed/.test(slug) && !slug.startsWith('demo/'))).toEqual([])
  })

  test('are endpoints of the same model', async () => {
    const catalog = await build({}, { GROQ_API_KEY: 'k', TOGETHER_API_KEY: 'k', OPENROUTER_API_KEY: 'k' })
    expect(catalog.find('meta-llama/llama-3.3-70b-instruct')?.endpoints.map((endpoint) => [endpoint.tag, endpoint.upstreamModel])).toEqual(
      expect.arrayContaining([
        ['groq', 'llama-3.3-70b-versatile'],
        ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'],
        ['openrouter', 'meta-llama/llama-3.3-70b-instruct'],
      ]),
    )
  })

  test('use the model id of the vendor', async () => {
    const catalog = await build({}, { FIREWORKS_API_KEY: 'k' })
    expect(catalog.find('openai/gpt-oss-120b')?.endpoints[0]?.upstreamModel).toBe('accounts/fireworks/models/gpt-oss-120b')
  })

  test('that are local switch on by their address, completed where it is short', async () => {
    const catalog = await build({}, { OLLAMA_HOST: '0.0.0.0:11434', VLLM_BASE_URL: 'http://gpu:8000/v1/' })
    expect(catalog.find('ollama/llama3.2:3b')?.endpoints[0]?.connection).toMatchObject({ baseUrl: 'http://127.0.0.1:11434/v1', credentials: [] })
    expect(catalog.find('vllm/org/model')?.endpoints[0]?.connection.baseUrl).toBe('http://gpu:8000/v1')
  })

  test('half configured by the environment stay off, with a note', async () => {
    const catalog = await build({}, { CLOUDFLARE_API_TOKEN: 'k', ANTHROPIC_API_KEY: 'k' })
    expect(catalog.providers.map((provider) => provider.slug)).toEqual(['demo'])
    expect(catalog.notes).toEqual([
      'anthropic stays off although its variable is set: dialect: "anthropic-messages" is not available in this version; expected one of: openai-chat, openai-responses',
      'cloudflare stays off although its variable is set: settings.account_id: missing; expected account_id here or CLOUDFLARE_ACCOUNT_ID in the environment',
    ])
    expect(
      (await build({}, { CLOUDFLARE_API_TOKEN: 'k', CLOUDFLARE_ACCOUNT_ID: 'a1' })).find('cloudflare/@cf/meta/x')?.endpoints[0]?.connection.baseUrl,
    ).toContain('/accounts/a1/ai/v1')
  })

  test('need only a base URL to point elsewhere', async () => {
    const catalog = await build({
      providers: [
        { slug: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKeys: [new Secret('x')], timeouts: { connect: 1 }, headers: { 'x-a': 'b' } },
      ],
    })
    expect(catalog.find('openai/gpt-5')?.endpoints[0]?.connection).toMatchObject({
      baseUrl: 'http://127.0.0.1:1/v1',
      headers: { 'x-a': 'b' },
      timeouts: { connect: 1, idle: 'auto' },
    })
  })

  test('have an opaque reasoning scope for each account that can read its own reasoning', async () => {
    const scopeOf = async (entry: object): Promise<string> => {
      const catalog = await build({ providers: [{ slug: 'openai', apiKeys: [new Secret('x')], ...entry }] })
      return catalog.find('openai/gpt-5')!.endpoints[0]!.connection.scope
    }
    const scopes = [await scopeOf({}), await scopeOf({ organization: 'org-1' }), await scopeOf({ baseUrl: 'http://10.0.0.7:1/v1' })]
    expect(new Set(scopes).size).toBe(3)
    expect(scopes.join(' ')).not.toMatch(/openai|org-1|10\.0/)
    expect(await scopeOf({ organization: 'org-1' })).toBe(scopes[1])
  })

  test('that are switched off stay off', async () => {
    const catalog = await build({ providers: [{ slug: 'openai', enabled: false }] }, { OPENAI_API_KEY: 'k' })
    expect(catalog.find('openai/gpt-5')).toBeUndefined()
  })
})

describe('configured models', () => {
  const small = {
    slug: 'acme/small',
    contextLength: 128_000,
    aliases: ['small'],
    endpoints: [{ upstreamModel: 'small-1', pricing: { input: 1, output: 2 }, maxOutputTokens: 8192 }],
  }

  test('of a custom provider need no file', async () => {
    const catalog = await build({ providers: [ACME], models: [small] })
    const model = catalog.find('acme/small')
    expect(model).toMatchObject({ slug: 'acme/small', name: 'small', contextLength: 128_000 })
    expect(model?.endpoints[0]).toMatchObject({
      id: 'acme/small@acme#small-1',
      providerName: 'Acme',
      contextLength: 128_000,
      maxOutputTokens: 8192,
      pricing: { input: 1, output: 2 },
      policies: { dataCollection: 'allow', zdr: false, distillable: false },
      quantization: 'unknown',
    })
    expect(model?.endpoints[0]?.connection.credentials.map((credential) => credential.id)).toEqual(['acme#0', 'acme#1'])
    expect(catalog.find('small')).toBe(model)
    expect(model?.endpoints[0]?.aliases).toEqual(['small'])
    expect(catalog.find('acme/small:nitro')).toBe(model)
  })

  test('list capabilities without losing sampling parameters', async () => {
    const catalog = await build({
      providers: [ACME],
      models: [{ slug: 'acme/small', endpoints: [{ supports: ['tools', 'image'], unsupported: ['top_p'] }] }],
    })
    const endpoint = catalog.find('acme/small')?.endpoints[0]
    expect([...(endpoint?.supports ?? [])]).toEqual(
      expect.arrayContaining(['tools', 'tool_choice', 'parallel_tool_calls', 'temperature', 'max_tokens']),
    )
    for (const name of ['structured_outputs', 'response_format', 'reasoning', 'top_p'] as const) expect(endpoint?.supports.has(name)).toBe(false)
    expect([...(endpoint?.inputModalities ?? [])]).toEqual(['text', 'image'])
    expect(endpoint?.contextLength).toBe(UNKNOWN_CONTEXT_LENGTH)
  })

  test.each([
    ['openai-chat', {}, { video: 'video_url' }],
    ['openai-chat', { video: 'none' }, { video: 'none' }],
    ['openai-responses', {}, { input_parts: ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video'] }],
    ['openai-responses', { input_parts: ['input_text'] }, { input_parts: ['input_text'] }],
  ])('that list video send it by %s, unless options %j say how', async (dialect, options, expected) => {
    const models = ['video', 'image'].map((kind) => ({ slug: `acme/${kind}`, endpoints: [{ supports: [kind as 'video' | 'image'] }] }))
    const catalog = await build({ providers: [{ ...ACME, dialect, options }], models })
    expect(catalog.find('acme/video')?.endpoints[0]?.connection.options).toMatchObject(expected)
    const plain = await build({ providers: [{ ...ACME, dialect, options }], models: [{ slug: 'acme/plain', endpoints: [{}] }] })
    const others = plain.find('acme/plain')?.endpoints[0]?.connection.options
    expect(catalog.find('acme/image')?.endpoints[0]?.connection.options).toEqual(others)
  })

  test('keep what the dialect declares when they list nothing', async () => {
    const catalog = await build({ providers: [ACME], models: [{ slug: 'acme/small', endpoints: [{}] }] })
    expect([...(catalog.find('acme/small')?.endpoints[0]?.supports ?? [])]).toEqual(openAiChat.supports)
  })

  test('support reasoning where a format leaves to options whether a model can be asked for it', async () => {
    const options = { models: [{ match: '^thinker', reasoning_style: 'effort' }] }
    const endpoints = ['thinker-1', 'plain-1'].map((upstreamModel) => ({ provider: 'acme', upstreamModel }))
    const models = endpoints.map((endpoint) => ({ slug: `acme/${endpoint.upstreamModel}`, endpoints: [endpoint] }))
    const catalog = await build({ providers: [{ ...ACME, options }], models })
    const reasons = (slug: string): boolean | undefined => catalog.find(slug)?.endpoints[0]?.supports.has('reasoning')
    expect([reasons('acme/thinker-1'), reasons('acme/plain-1')]).toEqual([true, false])
  })

  test('support what their vendor supports beyond its format, for listed, configured and unlisted models', async () => {
    const endpoint = { provider: 'mistral', upstreamModel: 'mistral-small-latest' }
    const catalog = await build({ models: [{ slug: 'acme/small', endpoints: [endpoint] }] }, { MISTRAL_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' })
    const takes = (slug: string): boolean | undefined => catalog.find(slug)?.endpoints[0]?.supports.has('parallel_tool_calls')
    expect(['mistralai/mistral-large', 'acme/small', 'mistral/unheard-of', 'deepseek/deepseek-chat'].map(takes)).toEqual([true, true, true, false])
  })

  test.each([{ baseUrl: 'https://vpce.test' }, { baseUrl: 'https://vpce.test', settings: { region: 'us-east-1' } }])(
    'are asked in the folder of their format at an address of the operator: %j',
    async (given) => {
      const providers = [{ slug: 'amazon-bedrock', apiKeys: [new Secret('k')], ...given }]
      const models = [{ slug: 'openai/gpt-5.5', endpoints: [{ provider: 'amazon-bedrock', upstreamModel: 'openai.gpt-5.5' }] }]
      const catalog = await build({ providers, models }, {}, dialects)
      expect(catalog.find('openai/gpt-5.5')?.endpoints[0]?.connection).toMatchObject({
        dialect: { name: 'openai-responses' },
        baseUrl: 'https://vpce.test',
        options: { path: '/openai/v1/responses' },
      })
    },
  )

  test('accept images where the model does', async () => {
    const catalog = await build({}, { DEEPSEEK_API_KEY: 'k' })
    const endpoint = (slug: string) => catalog.find(slug)?.endpoints[0]
    const sees = (slug: string) => endpoint(slug)?.inputModalities.has('image')
    expect(['deepseek/deepseek-v4-flash', 'deepseek/deepseek-chat'].map(sees)).toEqual([true, false])
    expect(endpoint('deepseek/deepseek-v4-flash')?.connection.options).toMatchObject({ image_url: 'object' })
  })

  test('accept images only at the vendor itself where its name means a newer model than the open weights', async () => {
    const sees = (slug: string, upstreamModel: string) => ({
      slug,
      endpoints: ['deepseek', 'fireworks'].map((provider) => ({ provider, upstreamModel })),
    })
    const models = [
      sees('deepseek/deepseek-v4-pro', 'deepseek-v4-pro'),
      sees('deepseek/deepseek-v4.1-flash', 'accounts/fireworks/models/deepseek-v4p1-flash'),
      sees('deepseek/deepseek-v4-flash-vision-exp', 'deepseek-v4-flash-vision-exp'),
    ]
    const catalog = await build({ models }, { DEEPSEEK_API_KEY: 'k', FIREWORKS_API_KEY: 'k' })
    const seen = (slug: string) => catalog.find(slug)?.endpoints.map(({ provider, inputModalities }) => `${provider} ${inputModalities.has('image')}`)
    expect(seen('deepseek/deepseek-v4-pro')).toEqual(['deepseek true', 'fireworks false'])
    expect(seen('deepseek/deepseek-v4.1-flash')).toEqual(['deepseek true', 'fireworks true'])
    expect(seen('deepseek/deepseek-v4-flash-vision-exp')).toEqual(['deepseek true', 'fireworks true'])
  })

  test('support no reasoning with models that are known not to, whatever their server knows', async () => {
    const catalog = await build({}, { FIREWORKS_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' })
    const reasons = (slug: string, provider: string): boolean | undefined =>
      catalog
        .find(slug)
        ?.endpoints.find((endpoint) => endpoint.provider === provider)
        ?.supports.has('reasoning')
    expect(reasons('deepseek/deepseek-r1', 'deepseek')).toBe(true)
    expect(reasons('openai/gpt-oss-120b', 'fireworks')).toBe(true)
    expect(reasons('meta-llama/llama-4-maverick', 'fireworks')).toBe(false)
  })

  test('replace the data for the same tag and add the rest', async () => {
    const endpoints = [
      { provider: 'openai', upstreamModel: 'gpt-5', pricing: { input: 9, output: 9 } },
      { provider: 'acme', upstreamModel: 'g' },
      { provider: 'openai', upstreamModel: 'gpt-5', tier: 'flex' as const },
    ]
    const catalog = await build(
      { providers: [ACME], models: [{ slug: 'openai/gpt-5', endpoints }] },
      { OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' },
    )
    const model = catalog.find('openai/gpt-5')
    expect(model?.endpoints.map((endpoint) => endpoint.tag)).toEqual(['openai', 'acme', 'openai/flex', 'openrouter'])
    expect(model?.endpoints[0]?.pricing).toEqual({ input: 9, output: 9 })
    expect(model?.endpoints[2]).toMatchObject({ tier: 'flex', pricing: { input: 1.25 } })
  })

  test('have tags by name, tier and region', async () => {
    const endpoints = [{ provider: 'acme/turbo' }, { tier: 'priority' as const }, { region: 'eu' }]
    const catalog = await build({ providers: [ACME], models: [{ slug: 'acme/small', endpoints }] })
    expect(catalog.find('acme/small')?.endpoints.map((endpoint) => endpoint.tag)).toEqual(['acme/turbo', 'acme/priority', 'acme/eu'])
  })

  test('are the default tier where their provider has others of the model in tiers, and only there', async () => {
    const endpoints = [{}, { tier: 'flex' as const }, { provider: 'openai', upstreamModel: 'g' }, { variant: 'free' }]
    const catalog = await build(
      {
        providers: [ACME],
        models: [
          { slug: 'acme/small', endpoints },
          { slug: 'acme/other', endpoints: [{}] },
        ],
      },
      { OPENAI_API_KEY: 'k' },
    )
    const tiers = (slug: string) => catalog.find(slug)?.endpoints.map((endpoint) => endpoint.tier)
    expect(tiers('acme/small')).toEqual(['default', 'flex', undefined])
    expect([tiers('acme/small:free'), tiers('acme/other')]).toEqual([[undefined], [undefined]])
  })

  test('have variants of their own', async () => {
    const catalog = await build({
      providers: [ACME],
      models: [{ slug: 'acme/small', endpoints: [{}, { upstreamModel: 'free-1', variant: 'free' }] }],
    })
    expect(catalog.find('acme/small')?.endpoints.map((endpoint) => endpoint.upstreamModel)).toEqual(['m'])
    expect(catalog.find('acme/small:free')?.endpoints.map((endpoint) => [endpoint.upstreamModel, endpoint.variant, endpoint.model])).toEqual([
      ['free-1', 'free', 'acme/small'],
    ])
    expect(catalog.find('acme/small:thinking')).toBeUndefined()
  })

  test('take options over those of their provider', async () => {
    const catalog = await build({
      providers: [{ ...ACME, options: { max_tokens_field: 'max_completion_tokens' } }],
      models: [{ slug: 'acme/a', endpoints: [{ options: { strict_tools: true } }] }],
    })
    expect(catalog.find('acme/a')?.endpoints[0]?.connection.options).toMatchObject({ max_tokens_field: 'max_completion_tokens', strict_tools: true })
  })

  test('lose the endpoints of a provider that is switched off', async () => {
    const catalog = await build({ providers: [{ ...ACME, enabled: false }], models: [small] })
    expect(catalog.find('acme/small')).toBeUndefined()
  })
})

describe('names the catalog does not list', () => {
  test('are served by an open provider, at the price of the data or at an unknown one', async () => {
    const catalog = await build({}, { OPENAI_API_KEY: 'k' })
    expect(catalog.find('openai/gpt-5-2025-08-07')?.endpoints[0]).toMatchObject({
      upstreamModel: 'gpt-5-2025-08-07',
      pricing: { input: 1.25 },
      contextLength: 400_000,
    })
    expect(catalog.find('openai/not-yet-known')?.endpoints[0]?.pricing).toEqual({})
    expect(catalog.find('openai/not-yet-known')).toBe(catalog.find('openai/not-yet-known'))
    expect(catalog.models().some((model) => model.slug === 'openai/not-yet-known')).toBe(false)
  })

  test('reach a custom provider only while the configuration lists none of its models', async () => {
    expect((await build({ providers: [ACME] })).find('acme/any')?.endpoints[0]?.upstreamModel).toBe('any')
    const models = [{ slug: 'acme/small', endpoints: [{}] }]
    expect((await build({ providers: [ACME], models })).find('acme/any')).toBeUndefined()
    expect((await build({ providers: [{ ...ACME, open: true }], models })).find('acme/any')).toBeDefined()
  })

  test.each([
    [{ open: false }, 'openai/x'],
    [{ providers: [{ slug: 'openai', open: false }] }, 'openai/x'],
    [{}, 'nobody/x'],
    [{}, 'openai/'],
    [{}, 'x'],
    [{}, `openai/${'x'.repeat(300)}`],
  ] as const)('are refused: %j %s', async (given, name) => expect((await build(given, { OPENAI_API_KEY: 'k' })).find(name)).toBeUndefined())
})

describe('floating names', () => {
  test.each([
    ['~anthropic/claude-sonnet-latest', /^anthropic\/claude-sonnet-[5-9]/],
    ['~openai/gpt-mini-latest', /^openai\/gpt-5\.\d-mini$/],
    ['~moonshotai/kimi-latest', /^moonshotai\/kimi-k[3-9]/],
  ])('%s is the newest of its family', async (name, expected) =>
    expect((await build({}, { OPENROUTER_API_KEY: 'k' })).find(name)?.slug).toMatch(expected),
  )
  test('go by version, not by spelling', async () => {
    const models = ['acme/big-2.9', 'acme/big-2.10', 'acme/big-2', 'acme/big-mini-3', 'acme/big-2.10-2025-01-01'].map((slug) => ({
      slug,
      endpoints: [{}],
    }))
    const catalog = await build({ providers: [ACME], models })
    expect(catalog.find('~acme/big-latest')?.slug).toBe('acme/big-2.10')
    expect(catalog.find('~acme/huge-latest')).toBeUndefined()
  })
})

describe('a base URL', () => {
  const notesOf = async (baseUrl: string, options: object = {}): Promise<readonly string[]> =>
    (await build({ providers: [{ ...ACME, baseUrl, options: { ...options } }] })).notes
  test('that holds the path its dialect appends is noted', async () => {
    expect(await notesOf('http://127.0.0.1:9101/v1/chat/completions')).toEqual([
      'the base_url of acme ends with /chat/completions, which the dialect openai-chat appends itself: leave it out',
    ])
    expect(await notesOf('http://127.0.0.1:9101/v1/talk', { path: '/talk' })).toHaveLength(1)
    expect(await notesOf('http://127.0.0.1:9101/v1')).toEqual([])
  })
  test.each(['http://127.0.0.1:9101', 'http://127.0.0.1:9101/'])(
    'without a path (%s) is noted: most servers have theirs under a version',
    async (baseUrl) => {
      expect(await notesOf(baseUrl)).toEqual([
        'the base_url of acme has no path, so requests go to /chat/completions: most servers want their version in it, such as /v1',
      ])
      expect(await notesOf(baseUrl, { path: '/v1/talk' })).toEqual([])
    },
  )
})

test('a key in quotation marks is noted, wherever it comes from', async () => {
  const note = 'has a key in quotation marks, which are sent as a part of it: leave them out (docker --env-file, for one, keeps them)'
  expect((await build({}, { OPENAI_API_KEY: '"sk-1"' })).notes).toEqual([`openai ${note}`])
  const apiKeys = [new Secret('k-1'), new Secret("'k-2'"), new Secret("'k-3'")]
  expect((await build({ providers: [{ ...ACME, apiKeys }] })).notes).toEqual([`acme ${note}`])
})

test('a region without effect is noted', async () => {
  const note = 'the region of acme has no effect: the provider has no such setting, its base_url says where requests go'
  expect((await build({ providers: [{ ...ACME, settings: { region: 'eu' } }] })).notes).toEqual([note])
  expect((await build({ providers: [ACME] })).notes).toEqual([])
  expect((await build({ providers: [{ ...ACME, enabled: false, settings: { region: 'eu' } }] })).notes).toEqual([])
})

describe('inconsistent settings', () => {
  test.each<[Given, string]>([
    [
      { providers: [{ slug: 'acme' }] },
      'providers[0].dialect: missing; expected one of: openai-chat, openai-responses (only built-in providers need none; signalbox check --providers lists them)',
    ],
    [
      { providers: [{ slug: 'acme', dialect: 'telegraph' }] },
      'providers[0].dialect: "telegraph" is not available in this version; expected one of: openai-chat, openai-responses',
    ],
    [
      { providers: [{ slug: 'anthropic' }] },
      'providers[0].dialect: "anthropic-messages" is not available in this version; expected one of: openai-chat, openai-responses',
    ],
    [
      { providers: [{ slug: 'acme', dialect: 'openai-chat' }] },
      'providers[0].base_url: missing; expected an http or https URL up to and including the version, such as https://api.example.com/v1',
    ],
    [
      { providers: [{ slug: 'openai' }] },
      'providers[0].api_keys: missing; expected OPENAI_API_KEY in the environment, or a list of keys (null when the server needs none)',
    ],
    [
      { providers: [{ slug: 'azure', settings: { resource: 'x' } }] },
      'providers[0].api_keys: missing; expected AZURE_OPENAI_API_KEY or AZURE_API_KEY in the environment, or a list of keys (null when the server needs none)',
    ],
    [{ providers: [{ ...ACME, settings: { resource: 'x' } }] }, 'providers[0].settings.resource: unknown setting: this provider has none of its own'],
    [{ providers: [{ slug: 'azure', apiKeys: [], settings: { resurce: 'x' } }] }, 'providers[0].settings.resurce: unknown setting of this provider'],
    [
      { models: [{ slug: 'acme/a', endpoints: [{ provider: 'acm' }] }] },
      'models[0].endpoints[0].provider: "acm"; expected the slug of an entry under providers, or of a built-in provider',
    ],
    [
      { providers: [{ slug: 'opneai' }] },
      'providers[0].slug: "opneai" is no built-in provider; did you mean openai? (any other needs a dialect and a base_url, another account of it vendor: openai)',
    ],
    // Other gateways' names for the same vendors.
    ...Object.entries({ bedrock: 'amazon-bedrock', vertex_ai: 'google-vertex', hosted_vllm: 'vllm', 'azure-us': 'azure' }).map(
      ([slug, near]): [Given, string] => [
        { providers: [{ slug }] },
        `providers[0].slug: "${slug}" is no built-in provider; did you mean ${near}? (any other needs a dialect and a base_url, another account of it vendor: ${near})`,
      ],
    ),
    [{ models: [{ slug: 'openai/a', endpoints: [{ provider: 'opneai' }] }] }, 'models[0].endpoints[0].provider: "opneai"; did you mean openai?'],
    [
      { models: [{ slug: 'openai/a', endpoints: [{ provider: 'openai' }] }] },
      'models[0].endpoints[0].provider: "openai" is not switched on; expected OPENAI_API_KEY in the environment, or an entry for it under providers',
    ],
    [
      { providers: [ACME], models: [{ slug: 'acme/a', endpoints: [{ options: { strict: true } }] }] },
      'models[0].endpoints[0].options.strict: unknown option of the dialect openai-chat',
    ],
    [
      {
        providers: [ACME],
        models: [
          { slug: 'acme/a', endpoints: [{}] },
          { slug: 'acme/b', aliases: ['acme/a'], endpoints: [{}] },
        ],
      },
      'models[1].aliases[0]: "acme/a"; expected a name no other model has (acme/a has it)',
    ],
    [{ model: 'acme/nope' }, 'defaults.model: "acme/nope"; expected a model that a configured provider serves'],
  ])('%j', async (given, problem) => expect(await problemsOf(given)).toEqual([problem]))

  test('an unknown option of a provider is found although no model uses it', async () => {
    expect(await problemsOf({ providers: [{ ...ACME, options: { bogus: 1, maxTokensField: 'max_tokens' } }] })).toEqual([
      'providers[0].options.bogus: unknown option of the dialect openai-chat',
      'providers[0].options.maxTokensField: unknown option of the dialect openai-chat; did you mean max_tokens_field?',
    ])
  })
})

describe('names of models beside defaults.model', () => {
  const models = [
    { slug: 'acme/small', aliases: ['small'], endpoints: [{}, { upstreamModel: 'free-1', variant: 'free' }] },
    { slug: 'acme/asleep', aliases: [], endpoints: [{ provider: 'bolt' }] },
  ]
  const given: Given = { providers: [ACME, { ...ACME, slug: 'bolt', enabled: false }], models }
  const everywhere = (name: string): Given => ({
    ...given,
    judge: name,
    imageModel: name,
    fusionModels: ['acme/small', name],
    plugins: [{ id: 'fusion', model: name, analysis_models: [name] }],
  })
  /** The note on a served model that is to make images and does not. */
  const blind = (name: string): string =>
    `tools.image_generation.model: ${JSON.stringify(name)} is not known to make images, as its slug has no "-image"; calls of the tool fail`
  const PLACES = [
    'tools.image_generation.model',
    'tools.fusion.models[1]',
    'plugins.moderation.model',
    'defaults.plugins[0].model',
    'defaults.plugins[0].analysis_models[0]',
  ]

  test.each(['acme/smal', 'acme/small:thinking', 'nobody/x', 'smal'])('%s, which nobody serves, is a problem wherever it stands', async (name) => {
    expect(await problemsOf(everywhere(name))).toEqual(
      PLACES.map((path) => `${path}: ${JSON.stringify(name)}; expected a model that a configured provider serves`),
    )
  })

  test.each(['acme/small', 'small', 'acme/small:nitro', 'acme/small:free', 'acme/small:nitro:free', '~acme/small-latest'])(
    '%s is served',
    async (name) => {
      expect((await build(everywhere(name))).notes).toEqual([blind(name)])
    },
  )

  test('an id of an open provider is served', async () => {
    expect((await build(everywhere('openai/not-yet-known'), { OPENAI_API_KEY: 'k' })).notes).toEqual([blind('openai/not-yet-known')])
  })

  test('a model that is to make images, and is known to, needs no note', async () => {
    const drawing = { ...given, models: [...models, { slug: 'acme/draw-image', aliases: ['draw'], endpoints: [{}] }] }
    for (const imageModel of ['acme/draw-image', 'draw:nitro']) expect((await build({ ...drawing, imageModel })).notes).toEqual([])
  })

  test.each(['gateway/auto', 'openrouter/auto:nitro', '@preset/mine', 'acme/small@preset/mine'])('%s stays valid, with a note', async (name) => {
    expect((await build(everywhere(name))).notes).toEqual(
      PLACES.map((path) => `${path}: ${JSON.stringify(name)} stands for a choice made for callers; a call of the gateway's own to it fails`),
    )
  })

  test.each(['acme/asleep', 'acme/asleep:nitro', 'bolt/any'])('%s of a provider that is switched off is only a note', async (name) => {
    expect((await build(everywhere(name))).notes).toEqual(
      PLACES.map((path) => `${path}: ${JSON.stringify(name)} is served by nobody while its provider is switched off`),
    )
  })

  test('a plugin that is switched off may name unknown models', async () => {
    expect((await build({ ...given, plugins: [{ id: 'fusion', enabled: false, model: 'nobody/x' }] })).notes).toEqual([])
  })

  test('scores of models that are not ranked are noted', async () => {
    expect((await build({ ...given, scores: { 'acme/small': 0.5 } })).notes).toEqual([])
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`acme/no-${n}`, 0.1]))
    expect((await build({ ...given, scores: { small: 0.9, 'acme/small': 0.5 } })).notes).toEqual([
      'plugins.pareto_router.scores: "small" is no model of the catalog by its slug, and its score counts for nothing',
    ])
    expect((await build({ ...given, scores: many })).notes).toEqual([
      expect.stringMatching(
        /^plugins\.pareto_router\.scores: "acme\/no-0", .*"acme\/no-9" and 2 more are no models of the catalog by their slugs, and /,
      ),
    ])
  })
})

test('secrets do not show in a catalog', async () => {
  const catalog = await build({ providers: [ACME] }, { OPENAI_API_KEY: 'sk-visible' })
  expect(JSON.stringify([catalog.models(), catalog.find('acme/x')])).not.toMatch(/sk-visible|"k1"/)
})

test('the prices in force follow the date', async () => {
  const early = await buildCatalog(configOf({}), PROVIDERS, DIALECTS, { DEEPSEEK_API_KEY: 'k' }, { now: Date.parse('2026-08-01') })
  const late = await buildCatalog(configOf({}), PROVIDERS, DIALECTS, { DEEPSEEK_API_KEY: 'k' }, { now: Date.parse('2026-09-01') })
  const price = (catalog: typeof early) => catalog.find('deepseek/deepseek-v4-flash')?.endpoints[0]?.pricing
  expect(price(early)?.input).toBeLessThan(price(late)?.input ?? 0)
  expect(price(late)?.windows?.length).toBeGreaterThan(0)
})

test('prices announced for later apply to later calls, without a restart', async () => {
  const at = (date: string) => Date.parse(date)
  const { pricing } = (await loadPriceBook(at('2026-12-01'))).find('google', 'gemini-3.6-flash')!
  const cost = (date: string) => computeCost(createUsage({ inputTokens: 1_000_000 }), pricing, {}, at(date)).input
  expect([cost('2026-12-31T23:59:59Z'), cost('2027-01-01T00:00:00Z'), cost('2027-03-05T12:00:00Z')]).toEqual([0.75, 1.5, 1.5])
  expect(presentPricing(pricing, at('2026-12-31'))).toMatchObject({ prompt: '0.00000075' })
  expect(presentPricing(pricing, at('2027-01-02'))).toMatchObject({ prompt: '0.0000015' })
  expect(presentPricing(pricing, at('2027-01-02'))).not.toHaveProperty('overrides')
  expect((await loadPriceBook(at('2027-01-02'))).find('google', 'gemini-3.6-flash')?.pricing.windows).toBeUndefined()
})

test('cheaper times of day apply until a later price list, and after it if that has them, too', async () => {
  const { pricing } = (await loadPriceBook(Date.parse('2026-08-01'))).find('deepseek', 'deepseek-v4-flash')!
  const input = (date: string) => computeCost(createUsage({ inputTokens: 1_000_000 }), pricing, {}, Date.parse(date)).input
  const fresh = (await loadPriceBook(Date.parse('2026-09-01'))).find('deepseek', 'deepseek-v4-flash')!.pricing
  const later = (date: string) => computeCost(createUsage({ inputTokens: 1_000_000 }), fresh, {}, Date.parse(date)).input
  for (const date of ['2026-09-02T02:00:00Z', '2026-09-02T05:00:00Z', '2026-09-02T08:00:00Z', '2026-09-02T23:00:00Z'])
    expect(input(date)).toBe(later(date))
})

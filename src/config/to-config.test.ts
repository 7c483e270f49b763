import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { loadConfig } from './load.ts'
import { configJsonSchema } from './schema.ts'

/** Every key of the file, with a value that is not its default. */
const FILE = {
  $schema: './schema.json',
  server: {
    host: '127.0.0.9',
    port: 1,
    body_limit: 2,
    console: false,
    allowed_origins: ['https://chat.example.com'],
    shutdown_grace: 3,
    wrong_keys_per_minute: 4,
    shutdown_delay: 5,
    keep_alive_timeout: 7,
    role: 'gateway',
    workers: 6,
  },
  providers: [
    {
      slug: 'acme',
      vendor: 'openai',
      name: 'Acme',
      dialect: 'openai-chat',
      base_url: 'http://acme/v1',
      api_keys: ['key-a', 'key-b'],
      options: { a: 1 },
      timeouts: { connect: 1, first_token: 2, idle: 3, total: 4 },
      rate_limits: { requests_per_minute: 600, tokens_per_minute: 90_000, concurrent_requests: 8 },
      headers: { 'x-a': 'b' },
      trace_context: true,
      organization: 'org',
      region: 'eu',
      settings: { project: 'p' },
      enabled: false,
      open_models: true,
      policies: { data_collection: 'deny', zdr: true, distillable: true },
    },
    { slug: 'keyless', api_keys: null, region: 'eu', settings: { region: 'us' } },
  ],
  models: [
    {
      slug: 'acme/small',
      name: 'Small',
      description: 'It is small.',
      created: 1,
      context_length: 2,
      answers: 'embeddings',
      aliases: ['tiny'],
      only_listed: true,
      endpoints: [
        {
          provider: 'acme/turbo',
          upstream_model: 'small-1',
          pricing: {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
            cache_write_1h: 5,
            input_audio: 6,
            cache_read_audio: 7,
            output_image: 8,
            request: 9,
            image: 10,
            web_search: 11,
            tiers: [{ from_input_tokens: 12, input: 13, output: 14, cache_read: 15, cache_write: 16, cache_write_1h: 17 }],
          },
          context_length: 3,
          max_output_tokens: 4,
          supports: ['tools', 'image'],
          unsupported: ['seed'],
          data_collection: 'deny',
          zdr: true,
          distillable: true,
          weight: 5,
          rate_limits: { requests_per_minute: 60, tokens_per_minute: 9_000, concurrent_requests: 2 },
          quantization: 'fp8',
          region: 'eu',
          tier: 'flex',
          variant: 'free',
          reasons_by_default: true,
          implicit_caching: true,
          options: { b: 2 },
        },
        { provider: 'acme' },
      ],
    },
  ],
  catalog: { open: false },
  defaults: { model: 'acme/small', plugins: [{ id: 'web', enabled: false, prevent_overrides: true, max_results: 2 }], prompt_caching: '1h' },
  routing: { cooldown: false, retries: false, sticky: false, session_headers: ['X-Conversation'], stream_failure: 'buffer' },
  responses: { mirror_reasoning: true, error_event: true, echo_upstream_body: false },
  limits: {
    credits: 1,
    requests_per_minute: 2,
    tokens_per_minute: 3,
    concurrent_requests: 4,
    unknown_price: 'deny',
    expected_output_tokens: 5,
    when_unknown: 'refuse',
  },
  network: { allow_private: { destinations: false, tools: true, media: true } },
  tools: {
    web_search: { engine: 'brave', engines: { brave: { api_key: 'key-c', base_url: 'http://brave', price: 1 }, searxng: {} } },
    web_fetch: { robots: false },
    image_generation: { model: 'acme/pictures' },
    fusion: { models: ['acme/a'] },
    sandbox: { url: 'http://sandbox', api_key: 'key-d' },
    mcp: { progress_events: false },
    limits: { wall: 1, parallel: 2 },
  },
  plugins: {
    file_parser: { engine: 'mistral-ocr', engines: { 'mistral-ocr': { api_key: 'key-e', base_url: 'http://ocr', account: 'a', price: 2 } } },
    pareto_router: { scores: { 'acme/small': 0.5 } },
    moderation: { endpoint: { url: 'http://judge', api_key: 'key-f', model: 'm' }, when_unavailable: 'allow' },
  },
  guardrails: {
    rules: [{ name: 'rule', workspaces: ['w'], keys: ['k'], allowed_models: ['acme/*'], enforce_zdr: true, limit_usd: 1 }],
    when_unknown: 'refuse',
  },
  destinations: { service_name: 'box', base_urls: { newrelic: 'https://nr', opik: null }, privacy_locked: true, trace_context: true },
  storage: {
    database: 'postgres',
    url: 'postgres://u:p@db/box',
    shared: 'redis',
    redis_url: 'redis://cache',
    redis_namespace: 'box',
    data_dir: '/srv/box',
  },
  answer_cache: { enabled: false, size: 1_000 },
  overload: { enabled: false, event_loop_delay: 1, memory_percent: 50, calls: 2 },
  retention: {
    generations: '2d',
    content: '1d',
    dead_letters: '3d',
    activity: '4d',
    spend: 'forever',
    deleted_destinations: '5d',
    every: '2m',
  },
  logging: { level: 'debug', format: 'pretty' },
}
const DAY_MS = 86_400_000

test('every key of the file arrives, under its name in the program', async () => {
  const { text, ...config } = await loadConfig({ env: {}, cwd: '/', read: { file: '/box.yaml', text: JSON.stringify(FILE) } })
  expect(text?.reveal()).toBe(JSON.stringify(FILE))
  expect(revealed(config)).toEqual({
    file: '/box.yaml',
    dataDir: resolve('/srv/box'),
    keys: {},
    server: {
      host: '127.0.0.9',
      port: 1,
      bodyLimit: 2,
      console: false,
      shutdownGrace: 3_000,
      allowedOrigins: ['https://chat.example.com'],
      wrongKeysPerMinute: 4,
      shutdownDelay: 5_000,
      keepAliveTimeout: 7_000,
      role: 'gateway',
      workers: 6,
    },
    providers: [
      {
        slug: 'acme',
        vendor: 'openai',
        name: 'Acme',
        dialect: 'openai-chat',
        baseUrl: 'http://acme/v1',
        apiKeys: ['secret key-a', 'secret key-b'],
        options: { a: 1 },
        timeouts: { connect: 1_000, firstToken: 2_000, idle: 3_000, total: 4_000 },
        rateLimits: { requestsPerMinute: 600, tokensPerMinute: 90_000, concurrentRequests: 8 },
        headers: { 'x-a': 'b' },
        traceContext: true,
        organization: 'org',
        settings: { region: 'eu', project: 'p' },
        enabled: false,
        open: true,
        policies: { dataCollection: 'deny', zdr: true, distillable: true },
      },
      {
        slug: 'keyless',
        apiKeys: [],
        options: {},
        timeouts: {},
        rateLimits: {},
        headers: {},
        traceContext: false,
        settings: { region: 'us' },
        enabled: true,
        policies: {},
      },
    ],
    models: [
      {
        slug: 'acme/small',
        name: 'Small',
        description: 'It is small.',
        created: 1,
        contextLength: 2,
        answers: 'embeddings',
        aliases: ['tiny'],
        onlyListed: true,
        endpoints: [
          {
            provider: 'acme/turbo',
            upstreamModel: 'small-1',
            pricing: {
              input: 1,
              output: 2,
              cacheRead: 3,
              cacheWrite: 4,
              cacheWrite1h: 5,
              inputAudio: 6,
              cacheReadAudio: 7,
              outputImage: 8,
              request: 9,
              image: 10,
              webSearch: 11,
              tiers: [{ fromInputTokens: 12, input: 13, output: 14, cacheRead: 15, cacheWrite: 16, cacheWrite1h: 17 }],
            },
            contextLength: 3,
            maxOutputTokens: 4,
            supports: ['tools', 'image'],
            unsupported: ['seed'],
            policies: { dataCollection: 'deny', zdr: true, distillable: true },
            weight: 5,
            rateLimits: { requestsPerMinute: 60, tokensPerMinute: 9_000, concurrentRequests: 2 },
            quantization: 'fp8',
            region: 'eu',
            tier: 'flex',
            variant: 'free',
            reasonsByDefault: true,
            implicitCaching: true,
            options: { b: 2 },
          },
          { provider: 'acme', upstreamModel: 'small', unsupported: [], rateLimits: {}, policies: {}, options: {} },
        ],
      },
    ],
    catalog: { open: false },
    defaults: { model: 'acme/small', plugins: [{ id: 'web', enabled: false, prevent_overrides: true, max_results: 2 }], prompt_caching: '1h' },
    routing: { cooldown: false, retries: false, sticky: false, session_headers: ['x-conversation'], stream_failure: 'buffer' },
    responses: { mirrorReasoning: true, errorEvent: true, echoUpstreamBody: false },
    limits: {
      credits: 1,
      requestsPerMinute: 2,
      tokensPerMinute: 3,
      concurrentRequests: 4,
      unknownPrice: 'deny',
      expectedOutputTokens: 5,
      whenUnknown: 'refuse',
    },
    network: { allowPrivate: { destinations: false, tools: true, media: true } },
    tools: {
      webSearch: { engine: 'brave', engines: { brave: { apiKey: 'secret key-c', baseUrl: 'http://brave', price: 1 }, searxng: {} } },
      webFetch: { robots: false },
      imageModel: 'acme/pictures',
      fusionModels: ['acme/a'],
      sandbox: { url: 'http://sandbox', apiKey: 'secret key-d' },
      mcp: { progressEvents: false },
      limits: { wallMs: 1_000, parallel: 2 },
    },
    plugins: {
      fileParser: { engine: 'mistral-ocr', engines: { 'mistral-ocr': { apiKey: 'secret key-e', baseUrl: 'http://ocr', account: 'a', price: 2 } } },
      codingScores: { 'acme/small': 0.5 },
      moderation: { endpoint: { url: 'http://judge', apiKey: 'secret key-f', model: 'm' }, whenUnavailable: 'allow' },
    },
    guardrails: {
      rules: [{ name: 'rule', workspaces: ['w'], keys: ['k'], rules: { allowed_models: ['acme/*'], enforce_zdr: true, limit_usd: 1 } }],
      whenUnknown: 'refuse',
    },
    destinations: { serviceName: 'box', baseUrls: { newrelic: 'https://nr', opik: null }, privacyLocked: true, traceContext: true },
    storage: {
      database: 'postgres',
      url: 'secret postgres://u:p@db/box',
      shared: 'redis',
      redisUrl: 'secret redis://cache',
      redisNamespace: 'box',
    },
    answerCache: { enabled: false, size: 1_000 },
    overload: { enabled: false, eventLoopDelayMs: 1_000, memoryShare: 0.5, calls: 2 },
    retention: {
      generationsMs: 2 * DAY_MS,
      contentMs: DAY_MS,
      deadLettersMs: 3 * DAY_MS,
      activityMs: 4 * DAY_MS,
      spendMs: Infinity,
      deletedDestinationsMs: 5 * DAY_MS,
      everyMs: 120_000,
    },
    logging: { level: 'debug', format: 'pretty' },
  })
})

/** Of the fields of guardrails, and of two that exclude each other, one stands for all. */
const ONE_FOR_ALL = /^guardrails\.rules\.(?!name|workspaces|keys)|^plugins\.moderation\.model$/

test('no key of the file is missing in the table above', () => {
  const missing = keysOf(configJsonSchema(), '').filter((path) => !ONE_FOR_ALL.test(path) && !isNamed(FILE, path.split('.')))
  expect(missing).toEqual([])
})

interface Schema {
  readonly properties?: { readonly [key: string]: Schema }
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Mappings and lists passed through: `models.endpoints.pricing.input`. */
function keysOf({ properties, items, anyOf }: Schema, path: string): readonly string[] {
  if (properties !== undefined) return Object.entries(properties).flatMap(([key, schema]) => keysOf(schema, path === '' ? key : `${path}.${key}`))
  const inner = items ?? anyOf?.find((one) => one.items !== undefined)
  return inner === undefined ? [path] : keysOf(inner, path)
}

function isNamed(tree: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true
  if (Array.isArray(tree)) return isNamed(tree[0], [key, ...rest])
  return typeof tree === 'object' && tree !== null && key in tree && isNamed((tree as { readonly [key: string]: unknown })[key], rest)
}

/** With secrets as texts that say so. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return `secret ${value.reveal()}`
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]))
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ConfigError } from '../core/config-error.ts'
import { loadConfig, type LoadOptions } from './load.ts'

let cwd: string
beforeEach(async () => (cwd = await mkdtemp(join(tmpdir(), 'signalbox-config-'))))
afterEach(() => rm(cwd, { recursive: true }))

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

async function load(content: string | undefined, options: Omit<LoadOptions, 'cwd'> = {}, name = 'signalbox.yaml') {
  if (content !== undefined) await writeFile(join(cwd, name), content)
  return loadConfig({ env: {}, ...options, cwd })
}

async function problemsOf(content: string | undefined, options: Omit<LoadOptions, 'cwd'> = {}): Promise<readonly string[]> {
  const error: unknown = await load(content, options).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).problems.map((problem) => `${problem.path}: ${problem.message}`)
}

const FULL = `
server: { host: 127.0.0.1, port: 8787, body_limit: 32MiB, shutdown_grace: 10s }
providers:
  - slug: acme
    name: Acme
    dialect: openai-chat
    base_url: http://127.0.0.1:9101/v1/
    api_keys: ["\${ACME_KEY}"]
    options: {}
    timeouts: { connect: 5s, first_token: auto, idle: 60s, total: 15m }
models:
  - slug: acme/small
    context_length: 128000
    endpoints:
      - provider: acme
        upstream_model: small-1
        pricing: { input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.25, cache_read_audio: 0.4, output_image: 30 }
        max_output_tokens: 8192
        supports: [tools, structured_outputs, reasoning, image]
        data_collection: deny
defaults: { model: acme/small, plugins: [] }
routing: { cooldown: true, retries: true, sticky: true }
network: { allow_private: { destinations: true, tools: false, media: false } }
destinations: { service_name: signalbox, base_urls: { newrelic: null, opik: null, snowflake: null } }
storage: { database: sqlite, shared: memory }
`

describe('a configuration without a file', () => {
  test('has every default', async () => {
    const config = await load(undefined)
    expect(config).toMatchObject({
      server: { host: '127.0.0.1', port: 8787, bodyLimit: 32 * 1024 * 1024, shutdownGrace: 30_000 },
      dataDir: join(cwd, 'data'),
      keys: {},
      providers: [],
      models: [],
      catalog: { open: true },
      defaults: { plugins: [] },
      routing: { cooldown: true, retries: true, sticky: true },
      network: { allowPrivate: { destinations: true, tools: false, media: false } },
      storage: { database: 'sqlite', shared: 'memory' },
    })
    expect(config.file).toBeUndefined()
  })
})

describe('the operator contract', () => {
  test('accepts the documented file completely', async () => {
    const config = await load(FULL, { env: { ACME_KEY: 'sk-acme' } })
    expect(config.file).toBe(join(cwd, 'signalbox.yaml'))
    expect(config.server.shutdownGrace).toBe(10_000)
    expect(config.providers[0]).toMatchObject({
      slug: 'acme',
      name: 'Acme',
      dialect: 'openai-chat',
      baseUrl: 'http://127.0.0.1:9101/v1',
      enabled: true,
      timeouts: { connect: 5_000, firstToken: 'auto', idle: 60_000, total: 900_000 },
    })
    expect(config.providers[0]?.apiKeys?.map((key) => key.reveal())).toEqual(['sk-acme'])
    expect(config.models[0]).toMatchObject({
      slug: 'acme/small',
      contextLength: 128_000,
      aliases: [],
      endpoints: [
        {
          provider: 'acme',
          upstreamModel: 'small-1',
          pricing: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25, cacheReadAudio: 0.4, outputImage: 30 },
          maxOutputTokens: 8192,
          supports: ['tools', 'structured_outputs', 'reasoning', 'image'],
          policies: { dataCollection: 'deny' },
        },
      ],
    })
  })

  test('a key from a file of secrets loses the line break behind it', async () => {
    const config = await load('providers: [{ slug: acme, api_keys: ["${ACME_KEY}"] }]', { env: { ACME_KEY: 'sk-acme\n' } })
    expect(config.providers[0]?.apiKeys?.map((key) => key.reveal())).toEqual(['sk-acme'])
  })

  test('accepts merge keys (<<), which the keys beside them override', async () => {
    const config = await load(`
providers:
  - &local { slug: one, dialect: openai-chat, base_url: http://127.0.0.1:1/v1, api_keys: null, headers: &team { x-team: a } }
  - { <<: *local, slug: two, headers: { <<: *team, x-tier: b } }
  - { slug: three, <<: [{ base_url: http://127.0.0.1:3/v1 }, *local] }
`)
    expect(config.providers.map(({ slug, dialect, baseUrl, headers }) => [slug, dialect, baseUrl, headers])).toEqual([
      ['one', 'openai-chat', 'http://127.0.0.1:1/v1', { 'x-team': 'a' }],
      ['two', 'openai-chat', 'http://127.0.0.1:1/v1', { 'x-team': 'a', 'x-tier': 'b' }],
      ['three', 'openai-chat', 'http://127.0.0.1:3/v1', { 'x-team': 'a' }],
    ])
  })

  test('the account there loses it, too, because it is a header', async () => {
    const { providers } = await load('providers: [{ slug: acme, organization: "${ORG}" }]', { env: { ORG: 'org-1\n' } })
    expect(providers[0]?.organization).toBe('org-1')
    expect(await problemsOf('providers: [{ slug: acme, organization: "Büro" }]')).toEqual([
      'providers[0].organization: "Büro"; expected an account: visible ASCII characters in one line',
    ])
  })

  test('the keys of tools and plugins lose it, too', async () => {
    const { tools, plugins } = await load(
      `
tools: { web_search: { engines: { brave: { api_key: "\${K}" } } }, sandbox: { url: http://127.0.0.1:1, api_key: "\${K}" } }
plugins: { file_parser: { engines: { mistral-ocr: { api_key: "\${K}" } } }, moderation: { endpoint: { url: http://127.0.0.1:1, api_key: "\${K}" } } }
`,
      { env: { K: ' sk-acme\n' } },
    )
    const keys = [
      tools.webSearch.engines['brave']?.apiKey,
      tools.sandbox?.apiKey,
      plugins.fileParser.engines['mistral-ocr']?.apiKey,
      plugins.moderation.endpoint?.apiKey,
    ]
    expect(keys.map((key) => key?.reveal())).toEqual(Array.from({ length: 4 }, () => 'sk-acme'))
  })

  test.each(['sk-“acme”', 'sk\nacme', '\n'])('a key of a tool or plugin that no header carries is refused: %j', async (K) => {
    const expected = 'expected a key: visible ASCII characters in one line'
    expect(await problemsOf('tools: { web_search: { engines: { brave: { api_key: "${K}" } } } }', { env: { K } })).toEqual([
      `tools.web_search.engines.brave.api_key: "\${K}" (from the environment); ${expected}`,
    ])
  })

  test('accepts the same as JSON', async () => {
    const config = await load(JSON.stringify({ server: { port: 9000 }, providers: [{ slug: 'acme', api_keys: null }] }), {}, 'signalbox.json')
    expect(config.server.port).toBe(9000)
    expect(config.providers[0]?.apiKeys).toEqual([])
  })

  test('command line over environment over file', async () => {
    const file = 'server: { host: 127.0.0.2, port: 1 }\nstorage: { data_dir: from-file }'
    const env = { SIGNALBOX_PORT: '2', SIGNALBOX_HOST: '127.0.0.3' }
    expect(await load(file, { env })).toMatchObject({ server: { host: '127.0.0.3', port: 2 }, dataDir: join(cwd, 'from-file') })
    expect(await load(file, { env: { ...env, SIGNALBOX_DATA_DIR: '/srv/box' }, overrides: { port: 3 } })).toMatchObject({
      server: { host: '127.0.0.3', port: 3 },
      dataDir: '/srv/box',
    })
  })

  test('SIGNALBOX_CONFIG names the file, --config wins', async () => {
    await writeFile(join(cwd, 'a.yaml'), 'server: { port: 1 }')
    await writeFile(join(cwd, 'b.yaml'), 'server: { port: 2 }')
    const env = { SIGNALBOX_CONFIG: 'a.yaml' }
    expect((await load(undefined, { env })).server.port).toBe(1)
    expect((await load(undefined, { env, file: join(cwd, 'b.yaml') })).server.port).toBe(2)
  })

  test('keys, database and Redis come from the environment', async () => {
    const config = await load('storage: { database: sqlite, shared: memory }', {
      env: {
        SIGNALBOX_API_KEY: 'sk-one',
        SIGNALBOX_MANAGEMENT_KEY: 'sk-two',
        SIGNALBOX_SECRET_KEY: SECRET_KEY,
        SIGNALBOX_DATABASE_URL: 'postgres://box:pw@db/signalbox',
        SIGNALBOX_REDIS_URL: 'redis://cache:6379',
      },
    })
    expect(config.keys.apiKey?.reveal()).toBe('sk-one')
    expect(config.keys.managementKey?.reveal()).toBe('sk-two')
    expect(config.keys.secretKey?.reveal()).toBe(SECRET_KEY)
    expect(config.storage).toMatchObject({ database: 'postgres', shared: 'redis' })
    expect(config.storage.url?.reveal()).toBe('postgres://box:pw@db/signalbox')
    expect(JSON.stringify(config)).not.toContain('pw@db')
  })

  test('what is empty or blank in the environment is not there', async () => {
    const env = { SIGNALBOX_API_KEY: '', SIGNALBOX_MANAGEMENT_KEY: ' ', SIGNALBOX_PORT: '\t', SIGNALBOX_DATABASE_URL: '\n' }
    const config = await load('server: { port: 9 }', { env })
    expect([config.keys, config.server.port, config.storage.database]).toEqual([{}, 9, 'sqlite'])
    expect((await load(undefined, { env: { SIGNALBOX_API_KEY: ' sk-one\n' } })).keys.apiKey?.reveal()).toBe('sk-one')
  })

  test.each([SECRET_KEY, SECRET_KEY.slice(0, -1), Buffer.alloc(32, 255).toString('base64url')])(
    'a secret key is 32 bytes in base64: %s',
    async (key) => {
      expect((await load(undefined, { env: { SIGNALBOX_SECRET_KEY: key } })).keys.secretKey?.reveal()).toBe(key)
    },
  )

  test.each([
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    `${SECRET_KEY}=`,
    `${SECRET_KEY.slice(0, 42)}*=`,
    `${SECRET_KEY.slice(0, 20)} ${SECRET_KEY.slice(20)}`,
  ])('a secret key is nothing else: %s', async (key) => {
    expect(await problemsOf(undefined, { env: { SIGNALBOX_SECRET_KEY: key } })).toEqual([
      'SIGNALBOX_SECRET_KEY: [hidden]; expected 32 bytes in base64, such as the output of: openssl rand -base64 32',
    ])
  })

  test.each([
    'postgres://box@/signalbox?host=/run/postgresql',
    'postgresql:///signalbox?host=/run/postgresql',
    'postgres://%2Frun%2Fpostgresql/signalbox',
  ])('a database may be behind a socket: %s', async (url) => {
    expect((await load(undefined, { env: { SIGNALBOX_DATABASE_URL: url } })).storage.url?.reveal()).toBe(url)
  })
})

const ruleOf = ({ guardrails }: Awaited<ReturnType<typeof load>>) => guardrails.rules[0]!.rules

describe('substitution', () => {
  test.each([
    ['server: { port: "${P}" }', { P: '99' }, (c: Awaited<ReturnType<typeof load>>) => c.server.port, 99],
    ['server: { port: "${P:-77}" }', {}, (c: Awaited<ReturnType<typeof load>>) => c.server.port, 77],
    ['server: { port: "${P:-77}" }', { P: '' }, (c: Awaited<ReturnType<typeof load>>) => c.server.port, 77],
    ['defaults: { model: "${A}/${B:-x}" }', { A: 'acme' }, (c: Awaited<ReturnType<typeof load>>) => c.defaults.model, 'acme/x'],
    ['destinations: { service_name: "$${LITERAL}" }', {}, (c: Awaited<ReturnType<typeof load>>) => c.destinations.serviceName, '${LITERAL}'],
    ['limits: { credits: "${C}" }', { C: '12.50' }, (c: Awaited<ReturnType<typeof load>>) => c.limits.credits, 12.5],
    [
      'defaults: { plugins: [{ id: web, enabled: "${W}", prevent_overrides: "${L}" }] }',
      { W: 'false', L: 'true' },
      (c: Awaited<ReturnType<typeof load>>) => JSON.stringify(c.defaults.plugins),
      '[{"id":"web","enabled":false,"prevent_overrides":true}]',
    ],
    ['routing: { sticky: "${S}" }', { S: 'false' }, (c: Awaited<ReturnType<typeof load>>) => c.routing.sticky, false],
    [
      'guardrails: { rules: [{ name: a, enforce_zdr: "${Z}" }] }',
      { Z: 'true' },
      (c: Awaited<ReturnType<typeof load>>) => ruleOf(c).enforce_zdr,
      true,
    ],
    [
      'guardrails: { rules: [{ name: a, include_byok_in_budgets: "${B}" }] }',
      { B: 'true' },
      (c: Awaited<ReturnType<typeof load>>) => ruleOf(c).include_byok_in_budgets,
      true,
    ],
    ['guardrails: { rules: [{ name: a, limit_usd: "${L}" }] }', { L: '7.5' }, (c: Awaited<ReturnType<typeof load>>) => ruleOf(c).limit_usd, 7.5],
    ['guardrails: { rules: [{ name: a, limit_usd: null }] }', {}, (c: Awaited<ReturnType<typeof load>>) => ruleOf(c).limit_usd, null],
  ])('%s', async (content, env, read, expected) => expect(read(await load(content, { env }))).toBe(expected))

  test.each(['-1', '1e3', '12,50', 'null'])('an amount of money is a number: %s is none', async (C) => {
    await expect(load('limits: { credits: "${C}" }', { env: { C } })).rejects.toThrow(/limits\.credits.*expected an amount in USD, zero or more/)
  })

  test('a missing variable is named, with its line', async () => {
    const text = 'providers:\n  - slug: acme\n    api_keys:\n      - "${ACME_KEY}"\nlimits:\n  credits: "${CREDITS}"\n'
    await expect(load(text)).rejects.toThrow(
      /limits\.credits \(line 6\): the environment variable CREDITS[^]*api_keys\[0\] \(line 4\): the environment/,
    )
  })

  test.each([
    ['${A:-${B}}', 'a reference stands inside another'],
    ['${A', 'a reference is not closed'],
  ])('what looks like a reference and would not be replaced is refused: %s', async (text, problem) => {
    const expected = [`defaults.model: ${problem}; expected \${NAME} or \${NAME:-default}, or $\${ for a literal \${`]
    expect(await problemsOf(`defaults: { model: "acme/${text}" }`, { env: { A: '', B: 'small' } })).toEqual(expected)
  })

  test.each(['${1}', '${A-b}', '${}', '${A:b}'])('what is no reference is refused: %s', async (text) => {
    expect(await problemsOf(`defaults: { model: "${text}" }`, { env: { A: 'a' } })).toEqual([
      `defaults.model: "${text}" is no reference; expected \${NAME} or \${NAME:-default}, or $\${ for a literal \${`,
    ])
  })

  // A template was filled in within a reference: `${{{ key }}}`, `${<%= key %>}`.
  test.each([
    ['providers: [{ slug: a, api_keys: ["${sk-CANARY}"] }]', 'providers[0].api_keys[0]'],
    ['providers: ["${sk-CANARY}"]', 'providers[0]'],
    ['tools: { web_search: { engines: { exa: { api_key: "x${sk-CANARY}" } } } }', 'tools.web_search.engines.exa.api_key'],
    ['storage: { url: "postgres://u:${p-CANARY}@h/db" }', 'storage.url'],
  ])('a secret in place of the name of a variable is not shown: %s', async (content, path) => {
    const problem = 'a reference does not hold the name of a variable; expected ${NAME} or ${NAME:-default}, or $${ for a literal ${'
    expect(await problemsOf(content)).toContain(`${path}: ${problem}`)
    expect((await problemsOf(content)).join()).not.toContain('CANARY')
  })
  test.each(['api_keys: ["${abc_CANARY4aB7dE9fG1hJ3}"]', 'api_keys: ["Bearer ${CANARYSyB4aB7dE9fG1}"]'])(
    'nor is one that could be the name of a variable: %s',
    async (keys) => {
      const problem =
        'a reference holds what is no variable that is set, and looks like a secret; expected ${NAME} or ${NAME:-default}, or $${ for a literal ${'
      expect(await problemsOf(`providers: [{ slug: a, ${keys} }]`)).toContain(`providers[0].api_keys[0]: ${problem}`)
      expect((await problemsOf(`providers: [{ slug: a, ${keys} }]`)).join()).not.toContain('CANARY')
    },
  )
  test('names of variables that are not set are shown where they are words', async () => {
    const problems = (await problemsOf('providers: [{ slug: a, api_keys: ["${acme_production_api_key_2}"] }]')).join()
    expect(problems).toContain('the environment variable acme_production_api_key_2 is not set')
  })

  test('an invalid list of providers does not hide other problems', async () => {
    expect(await problemsOf('providers: { slug: acme }\nserver: { port: "${P}" }\nlogging: { level: "${L}" }', { env: { L: 'loud' } })).toEqual([
      'server.port: the environment variable P is not set; set it, or write ${P:-default}',
      'providers: a mapping; expected a list',
      'logging.level: "${L}" (from the environment); expected one of: trace, debug, info, warn, error, silent',
    ])
  })

  test('a missing variable is named, with its path', async () => {
    expect(await problemsOf(FULL)).toEqual([
      'providers[0].api_keys[0]: the environment variable ACME_KEY is not set; set it, or write ${ACME_KEY:-default}',
    ])
  })

  test('parts nobody reads need no variables', async () => {
    const config = await load(`${FULL}logging: { level: warn }`, { env: {}, sections: ['server', 'storage'] })
    expect([config.server.shutdownGrace, config.storage.database, config.providers, config.logging.level]).toEqual([10_000, 'sqlite', [], 'info'])
  })

  test('a provider that is switched off needs no variables', async () => {
    const config = await load('providers: [{ slug: acme, enabled: false, base_url: "http://x/v1", api_keys: ["${ACME_KEY}"] }]')
    expect(config.providers[0]?.enabled).toBe(false)
  })

  test('a provider that is switched off by a variable needs none, whatever it would be', async () => {
    const entry = `{
      slug: acme, enabled: "\${ACME_ON:-false}", dialect: openai-chat, base_url: "\${ACME_URL}", api_keys: ["\${ACME_KEY}"],
      timeouts: { connect: "\${ACME_WAIT}", total: 9m }, open_models: "\${ACME_OPEN}", headers: { x-team: "\${ACME_TEAM}" },
    }`
    const [provider] = (await load(`providers: [${entry}]`)).providers
    expect(provider).toMatchObject({ slug: 'acme', enabled: false, timeouts: { total: 540_000 } })
    expect(await problemsOf(`providers: [${entry.replace('acme', '"${ACME_NAME}"')}]`)).toEqual([
      'providers[0].slug: the environment variable ACME_NAME is not set; set it, or write ${ACME_NAME:-default}',
    ])
    expect(await problemsOf(`providers: [{ slug: acme, enabled: false, base_url: acme }]`)).toHaveLength(1)
  })
})

describe('wrong values', () => {
  test.each([
    ['server: { port: 70000 }', 'server.port: 70000; expected a whole number from 0 to 65535'],
    ['server: { port: eighty }', 'server.port: "eighty"; expected a whole number from 0 to 65535'],
    [
      'guardrails: { rules: [{ name: a, limit_usd: 1000000001 }] }',
      'guardrails.rules[0].limit_usd: 1000000001; expected an amount in USD, from 0 to 1000000000',
    ],
    [
      'defaults: { plugins: [{ id: web }, { id: moderation }, { id: web, max_results: 1 }] }',
      'defaults.plugins[2].id: "web"; expected another plugin, because entry 0 has this one already',
    ],
    [
      'guardrails: { rules: [{ name: a }, { name: a }] }',
      'guardrails.rules[1].name: "a"; expected another name, because entry 0 has this one already',
    ],
    ['models: [{ slug: acme/a, created: 1700000000000 }]', 'models[0].created: 1700000000000; expected a whole number from 0 to 253402300799'],
    ['defaults: { plugins: [{ id: web, enabled: off }] }', 'defaults.plugins[0].enabled: "off"; expected true or false'],
    ['defaults: { plugins: [{ id: web, prevent_overrides: 1 }] }', 'defaults.plugins[0].prevent_overrides: 1; expected true or false'],
    ['plugins: { moderation: {} }', 'plugins.moderation: a mapping; expected one with model or endpoint, because somebody has to judge'],
    [
      'plugins: { moderation: { model: a, endpoint: { url: "http://a" } } }',
      'plugins.moderation.endpoint: a mapping; expected either a model or an endpoint, not both',
    ],
    ['server: { body_limit: lots }', 'server.body_limit: "lots"; expected a size such as 512kB or 32MiB (a plain number counts bytes)'],
    [
      'server: { shutdown_grace: .inf }',
      'server.shutdown_grace: Infinity; expected a duration such as 500ms, 5s, 15m or 2h (a plain number counts seconds)',
    ],
    ['server: { port: .nan }', 'server.port: NaN; expected a whole number from 0 to 65535'],
    ['server: { shutdown_grace: -1 }', 'server.shutdown_grace: -1; expected a duration such as 500ms, 5s, 15m or 2h (a plain number counts seconds)'],
    ['server: 8787', 'server: 8787; expected a mapping'],
    ['- 1', 'document: a list; expected a mapping'],
    [
      'sever: {}',
      'sever: unknown key; did you mean server? (known: $schema, server, providers, models, catalog, defaults, routing, responses, limits, network, tools, plugins, guardrails, destinations, storage, answer_cache, overload, retention, logging)',
    ],
    ['routing: { stickiness: true }', 'routing.stickiness: unknown key; expected one of: cooldown, retries, sticky, session_headers, stream_failure'],
    ['routing: { session_headers: ["x y"] }', 'routing.session_headers[0]: "x y"; expected the name of a header, such as x-team'],
    ['routing: { retries: sometimes }', 'routing.retries: "sometimes"; expected true or false'],
    ['providers: { slug: acme }', 'providers: a mapping; expected a list'],
    ['providers: [{ name: Acme }]', 'providers[0].slug: missing; expected text'],
    [
      'providers: [{ slug: Acme Inc }]',
      'providers[0].slug: "Acme Inc"; expected lower-case letters, digits, dots, dashes and underscores, such as acme',
    ],
    [
      'providers: [{ slug: a, base_url: "ftp://x/v1" }]',
      'providers[0].base_url: "ftp://x/v1"; expected an http or https URL without query, up to and including the version, such as https://api.example.com/v1',
    ],
    [
      'providers: [{ slug: a, timeouts: { connect: 5 parsecs } }]',
      'providers[0].timeouts.connect: "5 parsecs"; expected a duration such as 500ms, 5s, 15m or 2h (a plain number counts seconds)',
    ],
    [
      'providers: [{ slug: a, timeouts: { first_token: soon } }]',
      'providers[0].timeouts.first_token: "soon"; expected auto, or a duration such as 12s',
    ],
    [
      'guardrails: { rules: [{ name: a, content_filters: [{ pattern: "(?=look)", action: block }] }] }',
      'guardrails.rules[0].content_filters[0].pattern: "(?=look)"; invalid regular expression (lookarounds and backreferences are not supported): error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    [
      'guardrails: { rules: [{ name: a, content_filter_builtins: [{ slug: person-name, action: block }] }] }',
      'guardrails.rules[0].content_filter_builtins[0].slug: "person-name"; person-name needs a recogniser of names and places, which this gateway does not have',
    ],
    ['providers: [{ slug: a, api_keys: sk-oops }]', 'providers[0].api_keys: [hidden]; expected a list of keys, or null for none'],
    // Where a mapping with a key is expected, a text is most likely the key alone.
    ['providers: sk-oops', 'providers: [hidden]; expected a list'],
    ['providers: [sk-oops]', 'providers[0]: [hidden]; expected a mapping'],
    ['tools: { web_search: { engines: { exa: sk-oops } } }', 'tools.web_search.engines.exa: [hidden]; expected a mapping'],
    ['plugins: { file_parser: { engines: { mistral-ocr: sk-oops } } }', 'plugins.file_parser.engines.mistral-ocr: [hidden]; expected a mapping'],
    ['tools: { sandbox: sk-oops }', 'tools.sandbox: [hidden]; expected a mapping'],
    ['plugins: { moderation: { endpoint: sk-oops } }', 'plugins.moderation.endpoint: [hidden]; expected a mapping'],
    ['providers: [{ slug: a }, { slug: a }]', 'providers[1].slug: "a"; expected another slug, because entry 0 has this one already'],
    [
      'models: [{ slug: small }]',
      'models[0].slug: "small"; expected author/slug, such as acme/small (a variant such as :free goes into the endpoint)',
    ],
    [
      'models: [{ slug: a/b, endpoints: [{ provider: a, pricing: { input: -1 } }] }]',
      'models[0].endpoints[0].pricing.input: -1; expected a price in USD, zero or more',
    ],
    [
      'models: [{ slug: a/b, endpoints: [{ provider: a, pricing: { output: "2" } }] }]',
      'models[0].endpoints[0].pricing.output: "2"; expected a price in USD, zero or more',
    ],
    [
      'models: [{ slug: a/b, endpoints: [{ provider: a, data_collection: maybe }] }]',
      'models[0].endpoints[0].data_collection: "maybe"; expected one of: allow, deny',
    ],
    [
      'models: [{ slug: a/b, endpoints: [{ provider: a, tier: gold }] }]',
      'models[0].endpoints[0].tier: "gold"; expected one of: default, flex, priority',
    ],
    [
      'storage: { database: postgres }',
      'storage.url: missing; expected a connection string such as postgres://user:password@host:5432/signalbox, because database is postgres',
    ],
    [
      'storage: { url: "mysql://root:hunter2@db" }',
      'storage.url: [hidden]; expected a connection string such as postgres://user:password@host:5432/signalbox',
    ],
    ['storage: { shared: redis }', 'storage.redis_url: missing; expected a URL such as redis://host:6379/0, because shared is redis'],
    ['defaults: { plugins: [web] }', 'defaults.plugins[0]: "web"; expected a mapping with an id, such as {id: web}'],
    ['providers: [{ slug: a, headers: { "x team": b } }]', 'providers[0].headers.x team: [hidden]; expected the name of a header, such as x-team'],
    ['providers: [{ slug: a, headers: { x-team: "b\\nc" } }]', 'providers[0].headers.x-team: [hidden]; expected ASCII characters in one line'],
    ['providers: [{ slug: a, headers: { x-team: é } }]', 'providers[0].headers.x-team: [hidden]; expected ASCII characters in one line'],
    [
      'providers: [{ slug: a, headers: { Content-Length: "1" } }]',
      'providers[0].headers.Content-Length: [hidden]; expected another header, because this one belongs to each request',
    ],
    ['server: { body_limit: 0 }', 'server.body_limit: 0; expected a size of a byte or more, such as 32MiB'],
    [
      'server: { host: "127.0.0.1:80" }',
      'server.host: "127.0.0.1:80"; expected a host name or address without scheme, port and brackets, such as 127.0.0.1 or ::1',
    ],
    ['server: { shutdown_grace: 25d }', 'server.shutdown_grace: "25d"; expected a duration of at most 24d'],
    [
      'providers: [{ slug: a, timeouts: { connect: 0 } }]',
      'providers[0].timeouts.connect: 0; expected a duration of more than 0 and at most 24d, such as 5s',
    ],
    [
      'providers: [{ slug: a, timeouts: { idle: 30d } }]',
      'providers[0].timeouts.idle: "30d"; expected a duration of more than 0 and at most 24d, such as 5s',
    ],
    ['tools: { limits: { wall: 0 } }', 'tools.limits.wall: 0; expected a duration of more than 0 and at most 24d, such as 5s'],
    ['overload: { event_loop_delay: 0s }', 'overload.event_loop_delay: "0s"; expected a duration of more than 0 and at most 24d, such as 5s'],
    ['tools: { fusion: { models: [] } }', 'tools.fusion.models: a list; expected a list of one model or more'],
    ['plugins: { moderation: {} }', 'plugins.moderation: a mapping; expected one with model or endpoint, because somebody has to judge'],
    [
      'plugins: { moderation: { when_unavailable: allow } }',
      'plugins.moderation: a mapping; expected one with model or endpoint, because somebody has to judge',
    ],
    [
      'storage: { url: "postgres://box@db:99999/box" }',
      'storage.url: [hidden]; expected a connection string such as postgres://user:password@host:5432/signalbox',
    ],
    [
      'storage: { redis_url: "redis://odd:100%@cache" }',
      'storage.redis_url: [hidden]; expected a URL such as redis://host:6379/0, or redis+sentinel://host:26379,host:26379/master, where a % in a name or password is written %25',
    ],
    ...['redis://cache:99999', 'redis://cache/first', 'redis+sentinel://cache', 'redis-sentinel://cache/main', 'redis://a:6379,b:6379'].map((url) => [
      `storage: { redis_url: "${url}" }`,
      'storage.redis_url: [hidden]; expected a URL such as redis://host:6379/0, or redis+sentinel://host:26379,host:26379/master',
    ]),
    ...['connectTimeout=500', 'family=v4', 'db=first', 'db=1&tls=true'].map((parameters) => [
      `storage: { redis_url: "redis://cache?${parameters}" }`,
      'storage.redis_url: [hidden]; expected a URL such as redis://host:6379/0, or redis+sentinel://host:26379,host:26379/master, with no parameters but db=<number>, family=4 or family=6, username and password',
    ]),
    ...['postgres://box:x@one:5432,two:5432/box', 'postgres://one,two/box', 'postgres://one:5432,two/box', 'postgres://box@/box?host=one,two'].map(
      (url) => [
        `storage: { url: "${url}" }`,
        'storage.url: [hidden]; expected a connection string such as postgres://user:password@host:5432/signalbox, with one host: what finds the server that takes writes among several stands before them (HAProxy, a name that moves)',
      ],
    ),
    [
      'storage: { url: "postgres://one/box?sslmode=require&target_session_attrs=read-write" }',
      'storage.url: [hidden]; expected a connection string such as postgres://user:password@host:5432/signalbox, without target_session_attrs: the one host has to be the server that takes writes',
    ],
    [
      'storage: { redis_url: "redis+sentinel://odd:100%@cache/main" }',
      'storage.redis_url: [hidden]; expected a URL such as redis://host:6379/0, or redis+sentinel://host:26379,host:26379/master, where a % in a name or password is written %25',
    ],
    ['logging: { level: loud }', 'logging.level: "loud"; expected one of: trace, debug, info, warn, error, silent'],
  ])('%s', async (content, expected) => expect(await problemsOf(content)).toEqual([expected]))

  test('the end of a line around the value of a header, as secrets in files have, is no part of it', async () => {
    const { providers } = await load('providers: [{ slug: a, headers: { x-team: "${TEAM}" } }]', { env: { TEAM: 'blue\n' } })
    expect(providers[0]?.headers).toEqual({ 'x-team': 'blue' })
  })

  test.each([
    [{ SIGNALBOX_PORT: 'abc' }, 'SIGNALBOX_PORT: "abc"; expected a whole number from 0 to 65535'],
    [
      { SIGNALBOX_DATABASE_URL: 'sqlite:pw' },
      'SIGNALBOX_DATABASE_URL: [hidden]; expected a connection string such as postgres://user:password@host:5432/signalbox',
    ],
    [
      { SIGNALBOX_SECRET_KEY: 'short' },
      'SIGNALBOX_SECRET_KEY: [hidden]; expected 32 bytes in base64, such as the output of: openssl rand -base64 32',
    ],
    [{ SIGNALBOX_MANAGEMENT_KEY: 'é' }, 'SIGNALBOX_MANAGEMENT_KEY: [hidden]; expected a key of visible ASCII characters without spaces'],
    [{ SIGNALBOX_API_KEY: 'a b' }, 'SIGNALBOX_API_KEY: [hidden]; expected a key of visible ASCII characters without spaces'],
    [
      { SIGNALBOX_API_KEY: 'k', SIGNALBOX_MANAGEMENT_KEY: 'k' },
      'SIGNALBOX_MANAGEMENT_KEY: [hidden]; expected another key than SIGNALBOX_API_KEY, because a key has one kind',
    ],
  ])('%j', async (env, expected) => expect(await problemsOf(undefined, { env })).toEqual([expected]))

  test('a value that breaks several rules is reported once', async () => {
    expect(await problemsOf(undefined, { overrides: { host: '' } })).toEqual([
      '--host: ""; expected a host name or address without scheme, port and brackets, such as 127.0.0.1 or ::1',
    ])
  })

  test('a flag is named by its flag', async () => {
    expect(await problemsOf(undefined, { overrides: { port: 'abc' }, env: { SIGNALBOX_PORT: '1' } })).toEqual([
      '--port: "abc"; expected a whole number from 0 to 65535',
    ])
  })

  test('a value from the environment is shown by its reference only', async () => {
    expect(await problemsOf('server: { body_limit: "${LIMIT}" }', { env: { LIMIT: 'hunter2' } })).toEqual([
      'server.body_limit: "${LIMIT}" (from the environment); expected a size such as 512kB or 32MiB (a plain number counts bytes)',
    ])
  })

  test('all problems are reported at once, with their lines', async () => {
    const error: unknown = await load('server:\n  port: x\n  hots: y\nlogging:\n  level: loud\n').catch((reason: unknown) => reason)
    expect((error as ConfigError).problems.map(({ path, line }) => [path, line])).toEqual([
      ['server.port', 2],
      ['server.hots', 3],
      ['logging.level', 5],
    ])
    expect(String(error)).toContain('3 problems in the configuration')
  })

  test('a file that is no YAML says where', async () => {
    const error: unknown = await load('server:\n  host: "open').catch((reason: unknown) => reason)
    expect((error as ConfigError).problems[0]?.line).toBe(2)
  })

  test.each([
    [
      'a URL with credentials',
      'providers: [{ slug: x, base_url: "http://u:CANARY@host/v1" }]',
      '"http://[hidden]@host/v1"; expected an http or https URL',
    ],
    ['a URL with a slash in its password', 'providers: [{ slug: x, base_url: "http://u:CAN/CANARY@host/v1" }]', '"http://[hidden]@host/v1"'],
    ['a URL with a key in its query', 'providers: [{ slug: x, base_url: "https://host/v1?key=CANARY" }]', '"https://host/v1?[hidden]"'],
    ['a URL with a key behind its end', 'providers: [{ slug: x, base_url: "https://host/v1#CANARY" }]', '"https://host/v1#[hidden]"'],
    ['a URL whose password has a question mark', 'providers: [{ slug: x, base_url: "http://u:CANARY?CANARY@host/v1" }]', '"http://[hidden]"'],
    ['a URL whose query has an @', 'providers: [{ slug: x, base_url: "http://host/v1?key=a@CANARY" }]', '"http://[hidden]"'],
    ['credentials without a scheme', 'providers: [{ slug: x, base_url: "u:CANARY@host/v1" }]', '"[hidden]@host/v1"'],
    ['credentials beside a reference', 'providers: [{ slug: x, base_url: "http://u:CANARY@${HOST}:80x/v1" }]', '"http://[hidden]@${HOST}:80x/v1"'],
    ['a file that is one word', 'sk-CANARY', 'document: text; expected a mapping'],
    [
      'what stands after the end of the document',
      'providers: [{ slug: x, api_keys: [a] }]} sk-CANARY',
      'document: Unexpected scalar token in YAML stream',
    ],
    [
      'an alias without its anchor',
      'providers:\n  - { slug: x, api_keys: [*sk-CANARY] }',
      'document: an alias stands for an anchor that is not before it',
    ],
    ['a tag', 'providers:\n  - { slug: x, api_keys: [!canary!CANARY a] }', 'document: '],
    ['a directive', '%YAML CANARY\n---\n{ server: [ }', 'document: '],
  ])('%s is refused without quoting it', async (_what, content, expected) => {
    const problems = (await problemsOf(content, { env: { HOST: 'host' } })).join('\n')
    expect(problems).toContain(expected)
    expect(problems).not.toContain('CANARY')
  })

  test.each([
    'providers: [{ slug: a, api_keys: CANARY }]',
    'providers: [{ slug: a, headers: { x-a: "CANARY é" } }]',
    'providers: [{ slug: a, headers: CANARY }]',
    'providers: [{ slug: a, settings: CANARY }]',
    'tools: { sandbox: { url: "http://a", api_key: "CANARY é" } }',
    'tools: { sandbox: { url: CANARY } }',
    'tools: { web_search: { engines: { brave: { api_key: "CANARY é" } } } }',
    'plugins: { moderation: { endpoint: { url: CANARY } } }',
    'storage: { url: CANARY }',
    'storage: { redis_url: CANARY }',
  ])('a secret that is wrong is never shown: %s', async (content) => {
    const problems = (await problemsOf(content)).join('\n')
    expect(problems).toContain('[hidden]; expected')
    expect(problems).not.toContain('CANARY')
  })

  test('a wrong value under a name with dots is found by its line', async () => {
    const text = 'plugins:\n  pareto_router:\n    scores:\n      acme/a-1: 0.5\n      acme/a-1.5: 2\n'
    const error: unknown = await load(text).catch((reason: unknown) => reason)
    expect((error as ConfigError).problems).toEqual([
      { path: 'plugins.pareto_router.scores.acme/a-1.5', message: '2; expected number to be <=1', line: 5 },
    ])
  })

  test('an alias without its anchor is found by its line', async () => {
    const error: unknown = await load('server: {}\nproviders: *gone\n').catch((reason: unknown) => reason)
    expect((error as ConfigError).problems[0]?.line).toBe(2)
  })

  test('an alias of what it is a part of is a problem of the file, and found by its line', async () => {
    for (const text of ['server:\n  port: 1\nmodels: &a\n  - *a\n', 'server: {}\n\nmodels: &m { x: { y: *m } }\n'])
      expect((await problemsOf(text))[0]).toMatch(/an alias stands for what it is a part of/)
  })

  test('aliases that multiply are a problem of the file', async () => {
    const times = (name: string): string => `[${Array.from({ length: 10 }, () => `*${name}`).join(', ')}]`
    const bomb = `a: &a [x]\nb: &b ${times('a')}\nc: &c ${times('b')}\nd: ${times('c')}\n`
    expect((await problemsOf(bomb))[0]).toBe('document: aliases stand for more than any configuration holds')
  })

  test.each(['server: &s 1\nrouting: { <<: *s }\n', 'server: {}\nrouting: { <<: text }\n', 'server: {}\nrouting: { <<: [{}, 1] }\n'])(
    'what is merged and no mapping is a problem of the file, found by its line: %j',
    async (text) => {
      const error: unknown = await load(text).catch((reason: unknown) => reason)
      expect((error as ConfigError).problems).toEqual([
        { path: 'document', line: 2, message: '<< merges something that is no mapping; expected an alias of a mapping, or a list of them' },
      ])
    },
  )

  test('several documents in one file are a problem, found by the line of the second', async () => {
    const error: unknown = await load('server: { port: 1 }\n---\nserver: { port: 2 }\n').catch((reason: unknown) => reason)
    expect((error as ConfigError).problems).toEqual([
      { path: 'document', line: 2, message: 'a second document begins here (---); expected one document that holds the whole configuration' },
    ])
    expect((await load('---\nserver: { port: 1 }\n...\n')).server.port).toBe(1)
  })

  test('a key that stands twice is an error', async () => {
    expect((await problemsOf('server: {}\nserver: {}'))[0]).toMatch(/^document: .*unique/)
  })

  test.each([
    ['braces of a template that was not filled in', 'server: {}\nproviders: [{ slug: a, api_keys: [{{ .Values.key }}] }]'],
    ['a mapping with one pair of braces too many', 'providers:\n  - {{ slug: a, api_keys: [sk-CANARY-7f3a] }}'],
    ['a list', 'server:\n  ? [sk-CANARY-7f3a]\n  : 1'],
    ['an alias of a mapping', 'server: &s { host: sk-CANARY-7f3a }\n*s : 1'],
  ])('a key that is no text is a problem with its line, which does not quote it: %s', async (_what, content) => {
    const warnings: string[] = []
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
    const message = 'a key is a mapping or a list; expected text, and a template such as {{ name }} to be filled in'
    await expect(load(content)).rejects.toMatchObject({ problems: [{ path: 'document', line: 2, message }] })
    expect(warnings).toEqual([])
    warn.mockRestore()
  })

  // YAML ends an unquoted text at a brace within brackets.
  test.each([
    ['in a list', 'server: {}\nproviders: [{ slug: a, api_keys: [${A}, ${B:-x}] }]', [2, 2]],
    ['in a mapping', 'server: {}\nstorage: { url: ${URL}, data_dir: x }', [2]],
  ])('a reference %s in one line without quotation marks is a problem with its line and its remedy', async (_where, content, lines) => {
    const message = 'a reference within [ ] or { } is not in quotation marks; expected "${NAME}"'
    await expect(load(content)).rejects.toMatchObject({ problems: lines.map((line) => ({ path: 'document', line, message })) })
  })

  test('what the parser misses is named in full', async () => {
    expect(await problemsOf('limits: ["a" "b"]')).toEqual(['document: Missing , or : between flow sequence items'])
  })

  test('a named file that is missing is an error', async () => {
    expect(await problemsOf(undefined, { file: '/nowhere/box.yaml' })).toEqual([
      'file: "/nowhere/box.yaml" cannot be read (ENOENT); expected the path of a YAML or JSON file',
    ])
  })
})

test.each(['latin1', 'utf16le'] as const)('a file in %s is an error, and not read as what it does not say', async (encoding) => {
  const file = join(cwd, 'signalbox.yaml')
  await writeFile(file, '\ufeff'.repeat(encoding === 'latin1' ? 0 : 1) + 'defaults: { model: acme/café }', encoding)
  expect(await problemsOf(undefined)).toEqual([`file: ${JSON.stringify(file)} is not UTF-8; expected a file saved as UTF-8`])
})

// What is mounted into a container is a directory where the host has no such file.
test('a file that exists and cannot be read is an error, and does not count as missing', async () => {
  const file = join(cwd, 'signalbox.yaml')
  await mkdir(file)
  await writeFile(join(cwd, 'signalbox.json'), '{}')
  expect(await problemsOf(undefined)).toEqual([`file: ${JSON.stringify(file)} cannot be read (EISDIR); expected the path of a YAML or JSON file`])
})

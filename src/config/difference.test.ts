import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { differences, type Difference } from './difference.ts'
import { readDocument } from './load.ts'

const ENV = { ACME_KEY: 'sk-from-the-environment', OTHER_KEY: 'sk-from-the-environment' }
const read = (file: object) => readDocument({ env: ENV, cwd: '/none', read: { file: 'signalbox.json', text: JSON.stringify(file) } })
const between = async (before: object, after: object): Promise<readonly Difference[]> => differences(await read(before), await read(after))

const provider = (slug: string, more: object = {}) => ({ slug, dialect: 'openai-chat', base_url: 'https://acme.test/v1', api_keys: ['k'], ...more })
const model = (slug: string, ...endpoints: readonly object[]) => ({ slug, context_length: 8_000, endpoints })

describe('two configurations', () => {
  it('are the same where one writes out what the other leaves at its default, or writes it otherwise', async () => {
    expect(await between({}, { server: { port: 8787, host: '127.0.0.1' }, logging: {} })).toEqual([])
    expect(await between({ overload: { event_loop_delay: '2s' } }, { overload: { event_loop_delay: '2000ms' } })).toEqual([])
    expect(await between({ providers: [provider('a')] }, { providers: [provider('a', { enabled: true })] })).toEqual([])
    // What an editor reads.
    expect(await between({}, { $schema: './signalbox.schema.json' })).toEqual([])
  })

  it(verifies('P39', 'differ in values, which are shown as they are written'), async () => {
    expect(
      await between({ limits: { concurrent_requests: 5 } }, { limits: { concurrent_requests: 9 }, overload: { event_loop_delay: '2s' } }),
    ).toEqual([
      { path: 'limits.concurrent_requests', kind: 'changed', before: '5', after: '9', needsRestart: false },
      { path: 'overload.event_loop_delay', kind: 'changed', before: 'default', after: '"2s"', needsRestart: false },
    ])
  })

  it('say what takes effect only with a new process', async () => {
    const found = await between({ server: { port: 1 } }, { server: { port: 2, shutdown_delay: '3s' }, logging: { level: 'debug' } })
    expect(found.map(({ path, needsRestart }) => [path, needsRestart])).toEqual([
      ['server.port', true],
      ['server.shutdown_delay', false],
      ['logging.level', true],
    ])
    // Either is what it was.
    expect(await between({}, { storage: { database: 'sqlite', shared: 'memory' } })).toMatchObject([{ needsRestart: false }, { needsRestart: false }])
    expect(await between({}, { storage: { url: 'postgres://db/x' } })).toMatchObject([{ path: 'storage.url', needsRestart: true }])
  })

  it('differ in whole entries, and within entries of one name wherever they stand', async () => {
    const before = { providers: [provider('a'), provider('b')], models: [model('m/x', { provider: 'a', pricing: { input: 1, output: 2 } })] }
    const after = {
      providers: [provider('c'), provider('a', { timeouts: { connect: '1s' } })],
      models: [model('m/x', { provider: 'a', pricing: { input: 1, output: 3 } }, { provider: 'c' })],
    }
    expect((await between(before, after)).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'added providers[a].timeouts.connect',
      'removed providers[b]',
      'added providers[c]',
      'changed models[m/x].endpoints[a].pricing.output',
      'added models[m/x].endpoints[c]',
    ])
  })

  it('differ within entries that have no name, by their positions', async () => {
    const filters = (...patterns: readonly string[]) => ({
      rules: [{ name: 'x', content_filters: patterns.map((pattern) => ({ pattern, action: 'flag' })) }],
    })
    const models = (output: number) => [
      model('m/x', { provider: 'a', upstream_model: 'one' }, { provider: 'a', upstream_model: 'two', pricing: { input: 1, output } }),
    ]
    expect(
      await between(
        { providers: [provider('a')], models: models(2), guardrails: filters('a', 'b') },
        { providers: [provider('a')], models: models(3), guardrails: filters('a', 'c', 'd') },
      ),
    ).toEqual([
      { path: 'models[m/x].endpoints[1].pricing.output', kind: 'changed', before: '2', after: '3', needsRestart: false },
      { path: 'guardrails.rules[x].content_filters[1].pattern', kind: 'changed', before: '"b"', after: '"c"', needsRestart: false },
      { path: 'guardrails.rules[x].content_filters[2]', kind: 'added', needsRestart: false },
    ])
  })

  it('are shown as they are written, also where an entry is named by a variable', async () => {
    const named = (url: string) => ({ providers: [provider('${SLUG:-a}', { base_url: url })] })
    expect(await between(named('http://one.test/v1'), named('http://two.test/v1'))).toEqual([
      { path: 'providers[a].base_url', kind: 'changed', before: '"http://one.test/v1"', after: '"http://two.test/v1"', needsRestart: false },
    ])
  })

  it('differ in the order of what both have', async () => {
    const [a, b] = [provider('a'), provider('b')]
    expect(await between({ providers: [a, b] }, { providers: [b, a] })).toEqual([
      { path: 'providers', kind: 'order', before: 'a, b', after: 'b, a', needsRestart: false },
    ])
  })

  it('never show a secret, and say that it differs', async () => {
    const found = await between(
      { providers: [provider('a', { api_keys: ['sk-CANARY-1'], headers: { 'x-team': 'CANARY-2' } })] },
      {
        providers: [provider('a', { api_keys: ['sk-CANARY-3', 'sk-CANARY-4'], headers: { 'x-team': 'CANARY-5' } })],
      },
    )
    expect(JSON.stringify(found)).not.toContain('CANARY')
    expect(found).toEqual(
      expect.arrayContaining([
        { path: 'providers[a].api_keys', kind: 'changed', before: '[[hidden]]', after: '[[hidden], [hidden]]', needsRestart: false },
        { path: 'providers[a].headers.x-team', kind: 'changed', before: '[hidden]', after: '[hidden]', needsRestart: false },
      ]),
    )
  })

  it('show that a server needs no key', async () => {
    const [needed, needless] = [{ providers: [provider('a')] }, { providers: [provider('a', { api_keys: null })] }]
    expect(await between(needed, needless)).toMatchObject([{ path: 'providers[a].api_keys', before: '[[hidden]]', after: 'null' }])
  })

  it('name the variable a value comes from, and are the same where two variables hold the same', async () => {
    const keyed = (key: string) => ({ providers: [provider('a', { api_keys: [key] })] })
    expect(await between(keyed('${ACME_KEY}'), keyed('${OTHER_KEY}'))).toEqual([])
    expect(await between(keyed('a'), keyed('CANARY-${ACME_KEY:-CANARY}'))).toMatchObject([{ after: '["${ACME_KEY}" (from the environment)]' }])
    expect(await between(keyed('sk-literal'), keyed('${OTHER_KEY}'))).toMatchObject([
      { before: '[[hidden]]', after: '["${OTHER_KEY}" (from the environment)]' },
    ])
  })
})

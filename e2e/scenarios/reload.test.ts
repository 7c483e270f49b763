import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp, type App } from '../../src/app.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/core/config.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { startFakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startMcpServer } from '../../src/testing/mcp-server.ts'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'
import { speakerOf, VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer } from '../../src/testing/voices/voice.ts'

/** The effects of a configuration that a running gateway reloads. */
let directory: string
let app: App | undefined
let warnings: string[]

beforeEach(async () => {
  warnings = []
  directory = await mkdtemp(join(tmpdir(), 'signalbox-reload-'))
})
afterEach(async () => {
  await app?.close()
  app = undefined
  await rm(directory, { recursive: true, force: true })
})

const env = {
  SIGNALBOX_API_KEY: TEST_KEY,
  SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY,
  SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  SIGNALBOX_PORT: '0',
}

const read = (tree: object): Promise<Config> =>
  loadConfig({ env: { ...env, SIGNALBOX_DATA_DIR: directory }, cwd: directory, read: { file: 'signalbox.json', text: JSON.stringify(tree) } })

async function start(tree: object): Promise<App> {
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) }
  return (app = await createApp({ config: await read(tree), env, logger }))
}

it('reports names in the configuration that do not exist, as at the start', async () => {
  const tree = {
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: 'http://127.0.0.1:9/v1/chat/completions', api_keys: null }],
    guardrails: { rules: [{ name: 'one', keys: ['nobody'], enforce_zdr: true }] },
  }
  const expected = [expect.stringMatching(/^the base_url of acme ends with/), 'a guardrail of the configuration names a key that does not exist']
  await (await start({})).reload(await read(tree))
  await expect.poll(() => warnings).toEqual(expected)
  await app!.close()
  warnings = []
  await start(tree)
  expect(warnings).toEqual(expected)
})

it('the limit on wrong keys goes by the current listening address, not by the one after a restart', async () => {
  const running = await start({ server: { host: '0.0.0.0' } })
  const { port } = new URL((await running.listen()).url)
  await running.reload(await read({ server: { host: '127.0.0.1' } }))
  const guess = async (n: number): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/api/v1/key`, { headers: { authorization: `Bearer sk-sb-v1-${n}` } })).status
  const statuses: number[] = []
  for (let n = 0; n <= 100; n++) statuses.push(await guess(n))
  expect(statuses.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 401))
  expect(statuses[100]).toBe(429)
  // An explicit setting applies at once.
  await running.reload(await read({ server: { host: '127.0.0.1', wrong_keys_per_minute: null } }))
  expect(await guess(101)).toBe(401)
})

it('a process that reloads before it listens does so where the others do, not where they will after a restart', async () => {
  const beginning = await start({ server: { host: '127.0.0.1' } })
  // The process takes the place of one that died: the others run with this configuration, and at the address they started with.
  await beginning.reload(await read({ server: { host: '127.0.0.2' } }))
  expect(new URL((await beginning.listen()).url).hostname).toBe('127.0.0.1')
})

it('a reload changes what happens to calls with budgets while the spending is unknown', async () => {
  const running = await start({ limits: { credits: 10 } })
  const { url } = await running.listen()
  vi.spyOn(running.boot.store.spend, 'of').mockRejectedValue(new Error('away'))
  const ask = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'demo/echo', input: 'hello' })
    return (await fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body })).status
  }
  // After a change of the credits, the amount spent is requested again.
  await running.reload(await read({ limits: { credits: 11, when_unknown: 'refuse' } }))
  expect(await ask()).toBe(503)
  await running.reload(await read({ limits: { credits: 12 } }))
  expect(await ask()).toBe(200)
})

it('a reload between two turns leaves a tool loop its session with an MCP server', async () => {
  const voice = VENDOR_VOICES.get('openai-chat')!
  await using stack = new AsyncDisposableStack()
  const server = await startMcpServer('sessions')
  stack.defer(() => server.close())
  let turn = 0
  // Each turn of the model waits for a reload, so one lies between any two calls of the server.
  const reloads = async (): Promise<void> => running.reload(await read(tree(++turn)))
  const speak = speakerOf(voice, () =>
    turn < 4 ? { calls: [{ id: `call_${turn}`, name: 'math__add', arguments: '{"a":2,"b":3}' }] } : { text: 'Five.' },
  )
  const upstream = await startFakeUpstream(async (...heard) => {
    await reloads()
    return speak(...heard)
  })
  stack.defer(() => upstream.close())
  const tree = (price: number) => ({
    providers: [{ slug: 'acme', dialect: voice.dialect, base_url: upstream.url, api_keys: ['k'], options: voice.options }],
    models: [{ slug: 'acme/one', endpoints: [{ provider: 'acme', upstream_model: voice.model, supports: ['tools'], pricing: { input: price } }] }],
    network: { allow_private: { tools: true } },
  })
  const running = await start(tree(0))
  const { url } = await running.listen()
  const tools = [{ type: 'mcp', server_label: 'math', server_url: server.url, require_approval: 'never' }]
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'acme/one', input: 'What is two and three?', tools })
  expect((await fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body })).status).toBe(200)
  expect(server.calls).toHaveLength(3)
  expect(server.requests.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1)
  expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(0)
})

it.each([
  ['removed', []],
  ['served by another provider, which the caller excludes', ['other']],
])('a tool loop ends as it began although a reload has its model %s', async (_what, providers) => {
  const voice = VENDOR_VOICES.get('openai-chat')!
  await using stack = new AsyncDisposableStack()
  let turn = 0
  const speak = speakerOf(voice, () => (turn < 3 ? { calls: [{ id: `call_${turn}`, name: 'datetime', arguments: '{}' }] } : { text: 'Noon.' }))
  const upstream = await startFakeUpstream(async (...heard) => {
    if (++turn === 2) await running.reload(await read(tree(providers)))
    return speak(...heard)
  })
  stack.defer(() => upstream.close())
  const tree = (names: readonly string[]) => ({
    providers: names.map((slug) => ({ slug, dialect: voice.dialect, base_url: upstream.url, api_keys: ['k'], options: voice.options })),
    models: names.map((provider) => ({
      slug: 'acme/one',
      endpoints: [{ provider, upstream_model: voice.model, supports: ['tools'], pricing: { input: 1_000 } }],
    })),
  })
  const running = await start(tree(['acme']))
  const { url } = await running.listen()
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const body = { model: 'acme/one', provider: { ignore: ['other'] }, input: 'What time is it?', tools: [{ type: 'gateway:datetime' }] }
  const ask = async (): Promise<number> => (await fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body: JSON.stringify(body) })).status
  expect([await ask(), turn]).toEqual([200, 3])
  // A call that begins now finds what is in force.
  expect([await ask(), turn]).toEqual([404, 3])
})

it('a call whose plugins are at work ends as it began although a reload removed its model: they are paid for', async () => {
  const voice = VENDOR_VOICES.get('openai-chat')!
  await using stack = new AsyncDisposableStack()
  let turn = 0
  const speak = speakerOf(voice, () => (turn === 1 ? { text: 'safe' } : { text: 'Noon.' }))
  const upstream = await startFakeUpstream(async (...heard) => {
    if (++turn === 1) await running.reload(await read({}))
    return speak(...heard)
  })
  stack.defer(() => upstream.close())
  const endpoints = [{ provider: 'acme', upstream_model: voice.model, pricing: { input: 1_000 } }]
  const running = await start({
    providers: [{ slug: 'acme', dialect: voice.dialect, base_url: upstream.url, api_keys: ['k'], options: voice.options }],
    models: ['acme/one', 'acme/guard'].map((slug) => ({ slug, endpoints })),
    plugins: { moderation: { model: 'acme/guard' } },
  })
  const { url } = await running.listen()
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'acme/one', input: 'What time is it?', plugins: [{ id: 'moderation' }] })
  const answer = await fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body })
  expect([answer.status, turn]).toEqual([200, 2])
  expect(await answer.text()).toContain('Noon.')
})

describe('after a reload that removed its model, a subagent', () => {
  const delegated = { calls: [{ id: 'call_1', name: 'subagent', arguments: '{"task_name":"ask","task_description":"What is new?"}' }] }

  /** The answer, and what was asked upstream, if the model delegates to a subagent with this tool, and then they say this. */
  async function delegate(format: string, tool: string, sayings: readonly ScriptedAnswer[]) {
    const voice = VENDOR_VOICES.get(format)!
    await using stack = new AsyncDisposableStack()
    let turn = 0
    const speak = speakerOf(voice, () => [delegated, ...sayings][turn - 1]!)
    const upstream = await startFakeUpstream(async (...heard) => {
      if (++turn === 1) await running.reload(await read({}))
      return speak(...heard)
    })
    stack.defer(() => upstream.close())
    const running = await start({
      providers: [{ slug: 'acme', dialect: voice.dialect, base_url: upstream.url, api_keys: ['k'], options: voice.options }],
      models: [{ slug: 'acme/one', endpoints: [{ provider: 'acme', upstream_model: voice.model, supports: ['tools'], pricing: { input: 1_000 } }] }],
    })
    const { url } = await running.listen()
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
    const tools = [{ type: 'gateway:subagent', parameters: { model: 'acme/one', tools: [{ type: tool }] } }]
    const body = JSON.stringify({ model: 'acme/one', input: 'What is new?', tools })
    const answer = await (await fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body })).text()
    return { answer, asked: upstream.requests.map((request) => request.body) }
  }

  it('with tools of its own is asked', async () => {
    const looksUp = { calls: [{ id: 'call_2', name: 'datetime', arguments: '{}' }] }
    const { answer, asked } = await delegate('openai-chat', 'gateway:datetime', [looksUp, { text: 'Noon, I say.' }, { text: 'It is noon.' }])
    expect(answer).toContain('It is noon.')
    expect(JSON.stringify(asked.at(-1))).toContain('Noon, I say.')
  })

  it('has the tools of its provider', async () => {
    const { asked } = await delegate('openai-responses', 'gateway:web_search', [{ text: 'All is new, I say.' }, { text: 'All is new.' }])
    expect(asked[1]).toMatchObject({ tools: [{ type: 'web_search' }] })
    expect(JSON.stringify(asked.at(-1))).toContain('All is new, I say.')
  })
})

it('the limit on bodies stays as at the start also for routes that are first asked after a reload', async () => {
  const running = await start({})
  const { url } = await running.listen()
  await running.reload(await read({ server: { body_limit: '1kB' } }))
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'demo/echo', input: 'x'.repeat(3_000) })
  const ask = async (path: string): Promise<number> => (await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body })).status
  expect([await ask('responses'), await ask('responses/input_tokens')]).toEqual([200, 200])
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeSite, type FakeSite } from '../../src/testing/fake-site.ts'
import { startFakeUpstream, status, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** Searches that cost a cent each, for keys with little budget left. A turn of the model costs some millionths of a dollar. */
const CENT = 0.01
let upstream: FakeUpstream
let web: FakeSite
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream()
  web = await startFakeSite((_request, response) => {
    const results = [{ url: 'https://example.com/moon', title: 'The Moon', content: 'It is far away.' }]
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }))
  })
  gateway = await startGateway(
    chatConfig([upstream.url], {
      routing: { sticky: false, cooldown: false },
      network: { allow_private: { tools: true } },
      tools: { web_search: { engines: { searxng: { base_url: web.url, price: CENT } } } },
    }),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  web.close()
})
beforeEach(() => {
  web.clear()
})

const searches = (): number => web.seen.filter(({ url }) => url.startsWith('/search')).length

async function makeKey(limit: number) {
  const created = await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit })
  const { data, key } = (await created.json()) as { data: { hash: string }; key: string }
  const usage = async () => ((await (await gateway.api('GET', `/api/v1/keys/${data.hash}`)).json()) as { data: { usage: number } }).data.usage
  return { key, usage }
}

/** Sends a request with a new key that has this limit, and returns the result. */
async function askWith(limit: number, body: object) {
  const { key, usage } = await makeKey(limit)
  const response = await gateway.respond({ model: 'acme/small', input: 'How far is the moon?', max_output_tokens: 16, ...body }, { key })
  const answer = (await response.json()) as { readonly output?: readonly { readonly type: string; readonly status: string }[] }
  return { status: response.status, answer, usage }
}

const fiveSearches = calls(...Array.from({ length: 5 }, (_, n) => ['web_search', { query: `moon ${n}` }] as const))
const tools = [{ type: 'gateway:web_search' }]

describe('a key with little left, and tools that cost something', () => {
  it(verifies('H5', 'run as many searches as the remainder pays for, and the model learns of the rest'), async () => {
    upstream.script(fiveSearches, says('It is far away.'))
    const limit = 2.5 * CENT
    const { status, answer, usage } = await askWith(limit, { tools })
    expect(status).toBe(200)
    expect(answer.output?.map((item) => item.status).toSorted()).toEqual([
      'completed',
      'completed',
      'completed',
      'incomplete',
      'incomplete',
      'incomplete',
    ])
    expect(searches()).toBe(2)
    expect(JSON.stringify(upstream.requests.at(-1)!.body['messages'])).toContain('do not cover this request')
    await expect.poll(usage).toBeGreaterThan(2 * CENT)
    expect(await usage()).toBeLessThan(limit)
  })

  it(verifies('H5', 'run all calls where a stop condition replaces the number of calls, as long as they can be paid for'), async () => {
    upstream.script(fiveSearches, says('It is far away.'))
    const { status } = await askWith(5.5 * CENT, { tools, stop_server_tools_when: [{ type: 'step_count_is', step_count: 9 }] })
    expect(status).toBe(200)
    expect(searches()).toBe(5)
  })

  it('release the reservation of a search that failed', async () => {
    web.pages['/search'] = (_request, response) => void response.writeHead(500).end()
    upstream.script(fiveSearches, fiveSearches, says('It is far away.'))
    const { answer } = await askWith(1.5 * CENT, { tools, max_tool_calls: 10, parallel_tool_calls: false })
    expect(answer.output).toHaveLength(11)
    expect(searches()).toBeGreaterThan(1)
  })

  it(verifies('H5', 'refuse a plugin that costs more than is left, before it runs'), async () => {
    upstream.script(says('It is far away.'))
    const asked = upstream.requests.length
    const { status, usage } = await askWith(CENT / 2, { plugins: [{ id: 'web' }] })
    expect(status).toBe(402)
    expect(searches()).toBe(0)
    expect(upstream.requests).toHaveLength(asked)
    expect(await usage()).toBe(0)
  })

  it(verifies('H5', 'count the cost of plugins before the model and its tools are admitted'), async () => {
    upstream.script(fiveSearches, says('It is far away.'))
    const { status, usage } = await askWith(2.5 * CENT, { plugins: [{ id: 'web' }], tools })
    expect(status).toBe(200)
    expect(searches()).toBe(2)
    await expect.poll(usage).toBeGreaterThan(2 * CENT)
    expect(await usage()).toBeLessThan(2.5 * CENT)
  })
})

describe('a caller who leaves before the first word, after a plugin made a paid request', () => {
  it.each([true, false])(verifies('P29', 'H5', 'pays for it, and soon has no budget left for more (stream: %s)'), async (streamed) => {
    const { key, usage } = await makeKey(2.5 * CENT)
    const leave = async (): Promise<number | undefined> => {
      const gone = new AbortController()
      // The upstream was asked and does not answer.
      upstream.script(() => gone.abort())
      const asked = gateway.respond({ model: 'acme/small', input: 'hi', plugins: [{ id: 'web' }], stream: streamed }, { key, signal: gone.signal })
      const status = await asked.then(({ status }) => status).catch(() => undefined)
      await expect.poll(() => gateway.app.calls.size).toBe(0)
      return status
    }
    expect(await leave()).toBeUndefined()
    await expect.poll(usage).toBeCloseTo(CENT, 6)
    expect([await leave(), await leave()]).toEqual([undefined, 402])
    expect(searches()).toBe(2)
  })
})

describe('a caller who leaves while a search is under way', () => {
  it.each([
    ['a plugin', { plugins: [{ id: 'web' }] }],
    ['a tool', { tools }],
  ])(verifies('P29', 'H5', 'pays for it, because its engine was asked: that of %s'), async (_whose, more) => {
    upstream.script(fiveSearches)
    const { key, usage } = await makeKey(100 * CENT)
    const gone = new AbortController()
    web.pages['/search'] = () => gone.abort()
    const body = { model: 'acme/small', input: 'hi', max_output_tokens: 16, max_tool_calls: 1, ...more }
    await gateway.respond(body, { key, signal: gone.signal }).catch(() => undefined)
    await expect.poll(() => gateway.app.calls.size).toBe(0)
    expect(searches()).toBe(1)
    await expect.poll(usage).toBeGreaterThanOrEqual(CENT)
    expect(await usage()).toBeLessThan(1.1 * CENT)
  })
})

describe('a caller who is refused before the first word, after a plugin made a paid request', () => {
  const nobody = { provider: { only: ['nobody'] } }
  it.each([
    ['no endpoint is left by his preferences', nobody, 404],
    ['the provider finds his request invalid', {}, 400],
  ])(verifies('P29', 'H5', 'pays for it, and soon has no budget left for more: %s'), async (_why, more, refused) => {
    upstream.script(status(400, { error: { message: 'no such parameter' } }))
    const { key, usage } = await makeKey(2.5 * CENT)
    const ask = async (): Promise<number> =>
      (await gateway.respond({ model: 'acme/small', input: 'hi', max_output_tokens: 16, plugins: [{ id: 'web' }], ...more }, { key })).status
    expect(await ask()).toBe(refused)
    await expect.poll(usage).toBeCloseTo(CENT, 6)
    for (let n = 0; n < 4; n++) await ask()
    expect(await ask()).toBe(402)
    expect(searches()).toBeLessThanOrEqual(2)
  })

  it(verifies('P29', 'H5', 'is refused before the plugin buys anything, if the rest of his limit does not cover the model as well'), async () => {
    const { status: refused, usage } = await askWith(2.5 * CENT, { plugins: [{ id: 'web' }], max_output_tokens: 8_000 })
    expect([refused, searches()]).toEqual([402, 0])
    expect(await usage()).toBe(0)
  })

  it('pays nothing if it is the provider that fails', async () => {
    upstream.script(status(503, { error: { message: 'busy' } }))
    const { status: failed, usage } = await askWith(2.5 * CENT, { plugins: [{ id: 'web' }] })
    expect([failed, searches()]).toEqual([503, 1])
    expect(await usage()).toBe(0)
  })
})

it(verifies('P32', 'the cost is unknown if a tool asked a model without a known price, and the metadata says so'), async () => {
  const { models = [] } = chatConfig([upstream.url]) as { readonly models?: readonly object[] }
  const unpriced = { slug: 'acme/unpriced', context_length: 128_000, endpoints: [{ provider: 'acme', upstream_model: 'x' }] }
  const other = await startGateway(chatConfig([upstream.url], { models: [...models, unpriced], limits: { credits: 1 } }))
  upstream.script(calls(['subagent', { task_name: 't', task_description: 'd' }]), says('found'), says('done'))
  const body = { model: 'acme/small', input: 'hi', tools: [{ type: 'gateway:subagent', parameters: { model: 'acme/unpriced' } }] }
  const headers = { 'X-Gateway-Experimental-Metadata': 'enabled' }
  expect(await (await other.respond(body, { headers })).json()).toMatchObject({
    status: 'completed',
    usage: { cost: null },
    gateway_metadata: { params: { unknown_price: expect.stringContaining('an endpoint that a tool or plugin asked') as string } },
  })
  await other.close()
})

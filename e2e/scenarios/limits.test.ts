import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatText, silence, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { findTestPostgres } from '../../src/testing/postgres.ts'
import { findTestRedis, startPrivateRedis } from '../../src/testing/redis.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Limits and money over real sockets. The fake upstream reports 11 tokens in, 3 of them cached, and 7 out for every answer. */
const CALL_USD = (8 * 1 + 3 * 0.1 + 7 * 2) / 1e6

let upstream: FakeUpstream
let backup: FakeUpstream
let gateway: TestGateway

interface Key {
  readonly hash: string
  readonly key: string
}

const open = async (config: { readonly [key: string]: unknown } = {}, env: { readonly [name: string]: string } = {}): Promise<void> => {
  gateway = await startGateway(
    chatConfig([upstream.url, backup.url], { routing: { sticky: false, cooldown: false, retries: false }, ...config }),
    env,
  )
}
const createKey = async (limits: object): Promise<Key> => {
  const response = await gateway.api('POST', '/api/v1/keys', { name: 'limited', ...limits })
  expect(response.status).toBe(201)
  const { data, key } = (await response.json()) as { data: { hash: string }; key: string }
  return { hash: data.hash, key }
}
const ask = (key: string, extra: object = {}) =>
  gateway.respond(
    { model: 'acme/small', input: 'hi', max_output_tokens: 16, provider: { order: ['acme'], allow_fallbacks: false }, ...extra },
    { key },
  )
const keyOf = async ({ hash }: Key) =>
  ((await (await gateway.api('GET', `/api/v1/keys/${hash}`)).json()) as { data: { usage: number; limit_remaining: number } }).data

beforeEach(async () => {
  upstream = await startFakeUpstream(stream(chatText('from acme')))
  backup = await startFakeUpstream(stream(chatText('from the backup')))
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
  await backup.close()
})

/** 100 concurrent calls against a budget for 50: whatever is admitted, the budget holds and is used. */
async function raceAgainstBudget(): Promise<void> {
  const limit = CALL_USD * 50
  const key = await createKey({ limit })
  const statuses: number[] = []
  const unexpected: string[] = []
  const call = async (): Promise<void> => {
    const answer = await ask(key.key)
    const text = await answer.text()
    statuses.push(answer.status)
    if (answer.status !== 200 && answer.status !== 402) unexpected.push(text)
  }
  for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 100 }, call))
  expect(unexpected).toEqual([])
  const served = statuses.filter((code) => code === 200).length
  expect(new Set(statuses)).toEqual(new Set([200, 402]))
  expect(served).toBeLessThanOrEqual(50)
  // The last few calls of a budget are refused: their possible cost no longer fits, although their actual cost would.
  expect(served).toBeGreaterThan(40)
  expect(upstream.requests).toHaveLength(served)
  const { usage, limit_remaining } = await keyOf(key)
  expect(usage).toBeCloseTo(served * CALL_USD, 12)
  expect(usage).toBeLessThanOrEqual(limit)
  expect(limit_remaining).toBeCloseTo(limit - usage, 12)
}
const drained = async (response: Response): Promise<number> => {
  await response.arrayBuffer()
  return response.status
}

describe('a budget for 50 and 100 calls at once', () => {
  it(verifies('H1', 'P30', 'holds in memory, over SQLite'), async () => {
    await open()
    await raceAgainstBudget()
  })

  it(verifies('H1', 'P30', 'holds in memory, over PostgreSQL'), async (context) => {
    const postgres = await findTestPostgres('a budget over PostgreSQL')
    if (!postgres.available) {
      await open()
      return context.skip()
    }
    const schema = await postgres.createSchema()
    await open({}, { SIGNALBOX_DATABASE_URL: schema.url.reveal() })
    await raceAgainstBudget()
    await gateway.close()
    await schema.drop()
    await open()
  })

  it(verifies('H1', 'P30', 'holds in Redis'), async (context) => {
    const redis = await findTestRedis('a budget in Redis')
    await open(
      redis.available ? { storage: { redis_namespace: redis.namespace() } } : {},
      redis.available ? { SIGNALBOX_REDIS_URL: redis.url.reveal() } : {},
    )
    if (!redis.available) return context.skip()
    await raceAgainstBudget()
  })
})

describe('the credit limit of a key', () => {
  it('answers 402 once it is spent, and says what it is', async () => {
    await open()
    const key = await createKey({ limit: CALL_USD * 3, limit_reset: 'daily' })
    expect(await drained(await ask(key.key))).toBe(200)
    expect(await drained(await ask(key.key))).toBe(200)
    let last = await ask(key.key)
    if (last.status === 200) {
      await drained(last)
      last = await ask(key.key)
    }
    expect(last.status).toBe(402)
    expect(await last.json()).toMatchObject({
      error: {
        code: 402,
        message: expect.stringContaining('daily limit'),
        metadata: { error_type: 'payment_required', source: 'gateway', limit_source: 'key_limit', interval: 'daily' },
      },
    })
  })

  it('survives a restart', async () => {
    await open()
    const key = await createKey({ limit: CALL_USD * 2.5 })
    await drained(await ask(key.key, { max_output_tokens: 7 }))
    await drained(await ask(key.key, { max_output_tokens: 7 }))
    gateway = await gateway.restart()
    expect(await drained(await ask(key.key, { max_output_tokens: 7 }))).toBe(402)
    expect((await keyOf(key)).usage).toBeCloseTo(2 * CALL_USD, 12)
  })

  it('takes effect at once when it is changed', async () => {
    await open()
    const key = await createKey({ limit: 0 })
    expect(await drained(await ask(key.key))).toBe(402)
    await gateway.api('PATCH', `/api/v1/keys/${key.hash}`, { limit: 1 })
    expect(await drained(await ask(key.key))).toBe(200)
    await gateway.api('PATCH', `/api/v1/keys/${key.hash}`, { limit: CALL_USD })
    expect(await drained(await ask(key.key))).toBe(402)
    await gateway.api('PATCH', `/api/v1/keys/${key.hash}`, { limit: null })
    expect(await drained(await ask(key.key))).toBe(200)
  })

  it('is not reduced by calls that produced nothing', async () => {
    await open()
    const key = await createKey({ limit: 1 })
    upstream.script(status(503, { error: { message: 'busy' } }))
    for (let i = 0; i < 3; i++) expect(await drained(await ask(key.key))).toBe(503)
    upstream.script(stream(chatText('fine')))
    await drained(await ask(key.key))
    expect((await keyOf(key)).usage).toBeCloseTo(CALL_USD, 12)
  })

  it(verifies('H3', 'P31', 'is not exceeded by a fallback to a more expensive endpoint'), async () => {
    await open()
    const cheap = await createKey({ limit: CALL_USD * 10 })
    upstream.script(status(503, { error: { message: 'busy' } }))
    const refused = await ask(cheap.key, { provider: { order: ['acme', 'backup1'] } })
    expect(refused.status).toBe(402)
    expect(backup.requests).toHaveLength(0)
    const rich = await createKey({ limit: 1 })
    expect(await drained(await ask(rich.key, { provider: { order: ['acme', 'backup1'] } }))).toBe(200)
    expect(backup.requests).toHaveLength(1)
  })

  it(verifies('P29', 'bounds the output of a call without max_output_tokens'), async () => {
    await open()
    const key = await createKey({ limit: 500e-6 })
    const response = await gateway.respond(
      { model: 'acme/small', input: 'hi', provider: { order: ['acme'], allow_fallbacks: false } },
      { key: key.key, headers: { 'x-gateway-experimental-metadata': 'enabled' } },
    )
    expect(response.status).toBe(200)
    const { body } = upstream.requests[0]!
    const bound = (body['max_tokens'] ?? body['max_completion_tokens']) as number
    expect(bound * 2e-6).toBeLessThanOrEqual(500e-6)
    expect(bound).toBeGreaterThan(200)
    expect(JSON.stringify(((await response.json()) as { gateway_metadata: object }).gateway_metadata)).toContain('by what is left of the budget')
  })
})

it(verifies('H1', 'a budget too small for the first model moves the call to the next model of the request'), async () => {
  const at = (slug: string, dollars: number) => ({
    slug,
    context_length: 128_000,
    endpoints: [{ provider: 'acme', upstream_model: slug, pricing: { input: dollars, output: dollars } }],
  })
  await open({ models: [at('acme/large', 1_000), at('acme/small', 1)] })
  const { key } = await createKey({ limit: 0.005 })
  expect(await drained(await ask(key, { model: 'acme/large' }))).toBe(402)
  const response = await ask(key, { model: 'acme/large', models: ['acme/small'] })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ model: 'acme/small' })
  expect(upstream.requests.map(({ body }) => body['model'])).toEqual(['acme/small'])
})

describe('an endpoint whose price is unknown', () => {
  const unpriced = () => ({
    models: [{ slug: 'acme/small', context_length: 128_000, endpoints: [{ provider: 'acme', upstream_model: 'mystery-1' }] }],
  })
  it(verifies('H8', 'serves a key with a limit and says so'), async () => {
    await open(unpriced())
    const { key } = await createKey({ limit: 1 })
    const response = await gateway.respond({ model: 'acme/small', input: 'hi' }, { key, headers: { 'x-gateway-experimental-metadata': 'enabled' } })
    expect(await response.json()).toMatchObject({ gateway_metadata: { params: { unknown_price: expect.any(String) } } })
  })
  it(verifies('H8', 'does not serve it, if so configured; a key without limits is served'), async () => {
    await open({ ...unpriced(), limits: { unknown_price: 'deny' } })
    const { key } = await createKey({ limit: 1 })
    const refused = await gateway.respond({ model: 'acme/small', input: 'hi' }, { key })
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error: { metadata: { reason: 'unknown_price' } } })
    expect(await drained(await gateway.respond({ model: 'acme/small', input: 'hi' }))).toBe(200)
  })
})

describe('an endpoint that is paid per request and not by tokens', () => {
  const perRequest = {
    models: [
      { slug: 'acme/small', context_length: 128_000, endpoints: [{ provider: 'acme', upstream_model: 'small-1', pricing: { request: 0.01 } }] },
    ],
  }
  it.each(['allow', 'deny'])(verifies('H8', 'has a known price, with unknown_price: %s'), async (unknown_price) => {
    await open({ ...perRequest, limits: { unknown_price } })
    const { key } = await createKey({ limit: 0.025 })
    const headers = { 'x-gateway-experimental-metadata': 'enabled' }
    const response = await gateway.respond({ model: 'acme/small', input: 'hi' }, { key, headers })
    expect(response.status).toBe(200)
    const answer = (await response.json()) as { usage: { cost: number }; gateway_metadata: { params?: object } }
    expect(answer.usage.cost).toBe(0.01)
    expect(answer.gateway_metadata.params ?? {}).not.toHaveProperty('unknown_price')
    expect(await drained(await gateway.respond({ model: 'acme/small', input: 'hi' }, { key }))).toBe(200)
    const refused = await gateway.respond({ model: 'acme/small', input: 'hi' }, { key })
    expect(refused.status).toBe(402)
  })
})

describe('a key whose limit is used up', () => {
  it('is served by an own provider key that comes after the gateway’s credentials, unless the limit counts it, too', async () => {
    await open()
    const own = await gateway.api('POST', '/api/v1/byok', { provider: 'backup1', key: 'sk-their-own', is_fallback: true })
    expect(own.status).toBe(201)
    const { key } = await createKey({ limit: 0 })
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', max_output_tokens: 16 }, { key })
    expect(await response.json()).toMatchObject({ usage: { cost: 0, is_byok: true } })
    expect(backup.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-their-own'])
    const counted = await createKey({ limit: 0, include_byok_in_limit: true })
    const refused = await gateway.respond({ model: 'acme/small', input: 'hi', max_output_tokens: 16 }, { key: counted.key })
    expect(refused.status).toBe(402)
    expect([upstream.requests.length, backup.requests.length]).toEqual([0, 1])
  })
  it('is served by that own provider key also after a short rate limit', async () => {
    await open({ routing: { sticky: false } })
    await gateway.api('POST', '/api/v1/byok', { provider: 'backup1', key: 'sk-their-own', is_fallback: true })
    const { key } = await createKey({ limit: 0 })
    backup.script(status(429, { error: { message: 'slow down' } }, { 'retry-after': '0.2' }), stream(chatText('from the backup')))
    expect(await drained(await gateway.respond({ model: 'acme/small', input: 'hi', max_output_tokens: 16 }, { key }))).toBe(200)
    expect(backup.requests).toHaveLength(2)
  })
})

describe('the budgets of a workspace', () => {
  it('answer 403 and name the broadest interval', async () => {
    await open()
    const workspace = '00000000-0000-4000-8000-000000000001'
    for (const [interval, limit_usd] of [
      ['monthly', CALL_USD / 2],
      ['daily', CALL_USD / 4],
    ] as const) {
      expect((await gateway.api('PUT', `/api/v1/workspaces/${workspace}/budgets/${interval}`, { limit_usd })).status).toBe(200)
    }
    const response = await ask(gateway.key)
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringContaining('monthly budget'),
        metadata: { error_type: 'permission_denied', limit_source: 'workspace_budget', interval: 'monthly' },
      },
    })
    await gateway.api('DELETE', `/api/v1/workspaces/${workspace}/budgets/monthly`)
    await gateway.api('DELETE', `/api/v1/workspaces/${workspace}/budgets/daily`)
    expect(await drained(await ask(gateway.key))).toBe(200)
  })
})

describe('credits', () => {
  it('are for all keys together; 402 when they are gone', async () => {
    await open({ limits: { credits: CALL_USD / 2 } })
    expect(await drained(await ask(gateway.key, { max_output_tokens: 7 }))).toBe(402)
    expect(await (await gateway.api('GET', '/api/v1/credits')).json()).toEqual({ data: { total_credits: CALL_USD / 2, total_usage: 0 } })
  })
})

describe('credits, as a workspace reads them', () => {
  it('include the spending of other workspaces: the remainder is the same for all', async () => {
    await open({ limits: { credits: 1 } })
    const { id } = ((await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Team', slug: 'team' })).json()) as { data: { id: string } }).data
    const manager = (await gateway.app.accounts.create({ name: 'manager', kind: 'management', workspaceId: id })).secret.reveal()
    const { key } = await createKey({ workspace_id: id })
    for (const caller of [gateway.key, gateway.key, key]) expect(await drained(await ask(caller))).toBe(200)
    const rateLimitOf = async (by?: string) =>
      ((await (await gateway.api('GET', '/api/v1/credits', undefined, by)).json()) as { data: { total_credits: number; total_usage: number } }).data
    const [all, own] = [await rateLimitOf(), await rateLimitOf(manager)]
    expect(all).toEqual({ total_credits: 1, total_usage: expect.closeTo(3 * CALL_USD, 12) })
    expect(own.total_usage).toBeCloseTo(CALL_USD, 12)
    expect(own.total_credits - own.total_usage).toBeCloseTo(all.total_credits - all.total_usage, 12)
  })
})

describe('rates', () => {
  it('answer 429 with the limit, what remains and when to come back', async () => {
    await open()
    const { key } = await createKey({ rate_limits: { requests_per_minute: 2 } })
    expect(await drained(await ask(key))).toBe(200)
    expect(await drained(await ask(key))).toBe(200)
    const refused = await ask(key)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('2')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now())
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(20)
    expect(await refused.json()).toMatchObject({ error: { metadata: { error_type: 'rate_limit_exceeded', source: 'gateway', limit: 'requests' } } })
  })

  it('count requests saved as presets like calls, and no requests of a management key', async () => {
    await open()
    const { key } = await createKey({ rate_limits: { requests_per_minute: 2 } })
    const body = { model: 'acme/small', temperature: 0.1 }
    const save = (by?: string) => gateway.api('POST', '/api/v1/presets/mine/responses', body, by)
    expect(await drained(await ask(key))).toBe(200)
    expect((await save(key)).status).toBe(200)
    const refused = await save(key)
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '2'])
    expect((await ask(key)).status).toBe(429)
    expect((await save()).status).toBe(200)
    expect(await (await gateway.api('GET', '/api/v1/presets/mine/versions')).json()).toMatchObject({ total_count: 2 })
  })

  it('of a workspace apply to all its keys together, in addition to those of each key', async () => {
    await open()
    await gateway.api('PATCH', '/api/v1/workspaces/00000000-0000-4000-8000-000000000001', { rate_limits: { requests_per_minute: 3 } })
    const [one, two] = [await createKey({ rate_limits: { requests_per_minute: 1 } }), await createKey({})]
    expect(await drained(await ask(one.key))).toBe(200)
    const own = await ask(one.key)
    expect([own.status, JSON.stringify(await own.json())]).toEqual([429, expect.stringContaining('This key may')])
    for (let i = 0; i < 2; i++) expect(await drained(await ask(two.key))).toBe(200)
    const refused = await ask(two.key)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3')
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([429, expect.stringContaining('This workspace may')])
  })

  it('are shown to a key at /api/v1/key: its own, the configuration’s, and those of its workspace', async () => {
    await open({ limits: { concurrent_requests: 7 } })
    const rateLimitOf = async (key: string): Promise<unknown> =>
      ((await (await gateway.api('GET', '/api/v1/key', undefined, key)).json()) as { data: { rate_limit: unknown } }).data.rate_limit
    const { key } = await createKey({ rate_limits: { tokens_per_minute: 60 } })
    expect(await rateLimitOf(key)).toEqual({
      requests: -1,
      interval: '1m',
      note: 'Tokens of this key per minute: 60. Requests of this key at a time: 7.',
    })
    await gateway.api('PATCH', '/api/v1/workspaces/00000000-0000-4000-8000-000000000001', { rate_limits: { requests_per_minute: 3 } })
    const other = await createKey({ rate_limits: { requests_per_minute: 2 } })
    expect(await rateLimitOf(other.key)).toEqual({
      requests: 2,
      interval: '1m',
      note: 'Requests of this key per minute; a full minute’s worth may come at once. Requests of this key at a time: 7. Requests of all keys of its workspace per minute: 3.',
    })
    expect(await rateLimitOf(gateway.managementKey)).toEqual({ requests: -1, interval: '1m', note: 'This key has no limit on its rate.' })
  })

  it('are shown at the path that older clients use, too', async () => {
    await open()
    const { key } = await createKey({ rate_limits: { requests_per_minute: 2 } })
    const rateLimitOf = async (path: string): Promise<unknown> => (await gateway.api('GET', path, undefined, key)).json()
    expect(await rateLimitOf('/api/v1/auth/key')).toEqual(await rateLimitOf('/api/v1/key'))
    expect(await rateLimitOf('/api/v1/auth/key')).toMatchObject({ data: { rate_limit: { requests: 2, interval: '1m' } } })
  })

  it('count tokens as they were used', async () => {
    await open()
    const { key } = await createKey({ rate_limits: { tokens_per_minute: 60 } })
    for (let i = 0; i < 3; i++) expect(await drained(await ask(key))).toBe(200)
    expect((await ask(key)).status).toBe(429)
  })

  it.each(['completed', 'failed', 'cancelled'] as const)('release the place of a %s call', async (ending) => {
    await open()
    const { key } = await createKey({ rate_limits: { concurrent_requests: 1 } })
    for (let i = 0; i < 3; i++) {
      if (ending === 'completed') expect(await drained(await ask(key))).toBe(200)
      if (ending === 'failed') {
        upstream.script(status(503, { error: { message: 'busy' } }))
        expect(await drained(await ask(key))).toBe(503)
      }
      if (ending === 'cancelled') {
        upstream.script(silence())
        const abort = new AbortController()
        const before = upstream.requests.length
        const pending = gateway.respond({ model: 'acme/small', input: 'hi', stream: true }, { key, signal: abort.signal }).catch(() => undefined)
        while (upstream.requests.length + backup.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
        expect((await ask(key)).status).toBe(429)
        abort.abort()
        await pending
        await new Promise((resolve) => setTimeout(resolve, 100))
        backup.script(stream(chatText('again')))
      }
    }
  })
})

describe('Redis that dies during traffic', () => {
  it(verifies('I2', 'fails no inference, and limits continue when it is back'), async (context) => {
    const redis = await startPrivateRedis('Redis that dies during traffic')
    await open({ storage: { redis_namespace: 'e2e' } }, redis === undefined ? {} : { SIGNALBOX_REDIS_URL: redis.url })
    if (redis === undefined) return context.skip()
    const key = await createKey({ limit: 1, rate_limits: { requests_per_minute: 100_000 } })
    const statuses: number[] = []
    const traffic = { running: true }
    const callers = Array.from({ length: 8 }, async () => {
      while (traffic.running) {
        statuses.push(await drained(await ask(key.key)))
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    await wait(300)
    await redis.kill()
    await wait(600)
    await redis.start()
    await wait(600)
    // Enough statuses to draw a conclusion, however busy the machine is; otherwise the test's time limit ends it.
    while (statuses.length <= 50) await wait(20)
    traffic.running = false
    await Promise.all(callers)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await keyOf(key)).usage).toBeCloseTo(statuses.length * CALL_USD, 9)
    await redis.close()
  })
})

describe('reasoning tokens beyond the output limit', () => {
  let claude: FakeUpstream
  const answer = [
    { type: 'message_start', message: { id: 'msg_1', model: 'thinker', usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const think = async (key: string, fields: object): Promise<number> =>
    drained(await gateway.respond({ model: 'acme/thinker', input: 'hi', ...fields }, { key }))
  const sentLimit = (): unknown => claude.requests.at(-1)?.body['max_tokens']

  beforeEach(async () => {
    claude = await startFakeUpstream(stream(answer))
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect: 'anthropic-messages', base_url: claude.url, api_keys: ['key'] }],
      models: [
        {
          slug: 'acme/thinker',
          context_length: 200_000,
          endpoints: [{ provider: 'acme', upstream_model: 'thinker', pricing: { input: 1, output: 10 }, max_output_tokens: 64_000 }],
        },
      ],
      routing: { sticky: false, cooldown: false, retries: false },
    })
  })
  afterEach(() => claude.close())

  it(verifies('P29', 'are reserved like output'), async () => {
    // 50,000 tokens of reasoning cost 0.50 USD, the 16 of the answer almost nothing.
    const { key } = await createKey({ limit: 0.1 })
    expect(await think(key, { max_output_tokens: 16, reasoning: { max_tokens: 50_000 } })).toBe(402)
    expect(claude.requests).toHaveLength(0)
    expect(await think(key, { max_output_tokens: 16, reasoning: { max_tokens: 5_000 } })).toBe(200)
    expect(sentLimit()).toBe(5_016)
    const rich = await createKey({ limit: 0.6 })
    expect(await think(rich.key, { max_output_tokens: 16, reasoning: { max_tokens: 50_000 } })).toBe(200)
  })

  it(verifies('P29', 'fit what is left of a budget where the caller sets no limit'), async () => {
    const { key } = await createKey({ limit: 0.008 })
    for (const reasoning of [{ effort: 'high' }, { max_tokens: 50_000 }]) {
      expect(await think(key, { reasoning })).toBe(200)
      expect(sentLimit()).toBeLessThanOrEqual(800)
    }
  })
})

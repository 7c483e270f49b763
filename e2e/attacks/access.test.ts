import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateKey, hashKey } from '../../src/accounts/api-key.ts'
import { randomId } from '../../src/lib/id.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { bearer, exchange, portOf, request } from './raw-client.ts'

/** Guessed keys, requests forged through a browser, fields that nobody may set. */
let upstream: FakeUpstream
let gateway: TestGateway
let port: number

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url], { server: { wrong_keys_per_minute: null } }))
  port = portOf(gateway.url)
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const BODY = { model: 'acme/small', input: 'hi' }
const good = JSON.stringify(BODY)

describe('keys', () => {
  it(verifies('F4', 'have 64 random letters: more than 380 bits, evenly distributed, never repeated'), () => {
    const keys = Array.from({ length: 2_000 }, () => generateKey('inference', randomId).reveal().replace('sk-sb-v1-', ''))
    expect(new Set(keys).size).toBe(keys.length)
    for (const key of keys) expect(key).toMatch(/^[0-9A-Za-z]{64}$/)
    const seen = new Map<string, number>()
    for (const letter of keys.join('')) seen.set(letter, (seen.get(letter) ?? 0) + 1)
    const entropy = [...seen.values()].reduce((sum, n) => sum - (n / 128_000) * Math.log2(n / 128_000), 0)
    expect(entropy * 64).toBeGreaterThan(380)
  })

  it(verifies('F4', 'are looked up by their hash: a guess that shares all but its end with a key differs from it in every way'), async () => {
    const near = `${TEST_KEY.slice(0, -1)}2`
    expect(hashKey(near)).not.toBe(hashKey(TEST_KEY))
    const times: { [name: string]: number[] } = { near: [], far: [] }
    const guess = async (key: string): Promise<number> => {
      const started = performance.now()
      expect((await exchange(port, request('POST', '/api/v1/responses', [bearer(key)], good))).statuses).toEqual([401])
      return performance.now() - started
    }
    for (let n = 0; n < 150; n++) {
      times['near']!.push(await guess(near))
      times['far']!.push(await guess(`zz-sb-v1-${randomBytes(24).toString('hex')}`))
    }
    const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length / 2]!
    // A real leak would be nanoseconds; this finds a comparison that does measurable work for each correct letter.
    expect(Math.abs(median(times['near']!) - median(times['far']!))).toBeLessThan(2)
  })

  it.each(['near', 'empty', 'long', 'binary', 'case'])(verifies('F4', 'are exact: %s'), async (name) => {
    const wrong: { readonly [name: string]: string } = {
      near: `${TEST_KEY} x`,
      empty: '',
      long: TEST_KEY.repeat(100),
      binary: `${TEST_KEY}\u00ff`,
      case: TEST_KEY.toUpperCase(),
    }
    expect((await exchange(port, request('POST', '/api/v1/responses', [bearer(wrong[name]!)], good))).statuses).toEqual([401])
  })
})

describe('an address that guesses', () => {
  it(verifies('F5', 'is slowed down on every route; a caller there who already used a valid key is not'), async () => {
    const own = await startGateway(chatConfig([upstream.url], { server: { wrong_keys_per_minute: 20 } }))
    const statusOf = async (key: string, path = '/api/v1/responses'): Promise<number> =>
      (await fetch(`${own.url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: good })).status
    expect(await statusOf('wrong-0')).toBe(401)
    expect(await statusOf(TEST_KEY)).toBe(200)
    const guesses: number[] = []
    for (let n = 1; n < 30; n++) guesses.push(await statusOf(`wrong-${n}`, n % 2 === 0 ? '/api/v1/keys' : '/api/v1/responses'))
    expect(guesses.slice(0, 19)).toEqual(Array.from({ length: 19 }, () => 401))
    expect(guesses.slice(19)).toEqual(Array.from({ length: 10 }, () => 429))
    expect(await statusOf(TEST_KEY)).toBe(200)
    // A correct guess gets the same answer as a wrong one, because the management key was not in use before.
    const response = await own.api('GET', '/api/v1/keys')
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    // A request without any key does not count as a guess.
    expect((await fetch(`${own.url}/api/v1/models`)).status).toBe(401)
    await own.close()
  })
})

describe('a browser that another site sent here', () => {
  const evil = [
    'origin: https://evil.test',
    'sec-fetch-site: cross-site',
    'sec-fetch-mode: cors',
    `cookie: key=${TEST_KEY}; authorization=${TEST_KEY}`,
  ]

  it(verifies('F8', 'has no cookie that counts, and gets none'), async () => {
    for (const [method, path] of [
      ['POST', '/api/v1/responses'],
      ['GET', '/api/v1/keys'],
      ['GET', '/metrics'],
      ['GET', '/healthz'],
    ] as const) {
      const answer = await exchange(port, request(method, path, evil, method === 'POST' ? good : ''))
      expect(answer.statuses[0]).toBe(path.startsWith('/api') ? 401 : 200)
      expect(answer.text).not.toMatch(/set-cookie/i)
    }
  })

  it(verifies('F8', 'may send a preflight request and is allowed nothing: no CORS header in any answer'), async () => {
    const preflight = [...evil, 'access-control-request-method: POST', 'access-control-request-headers: authorization']
    for (const path of ['/api/v1/responses', '/api/v1/keys', '/openapi.json']) {
      expect((await exchange(port, request('OPTIONS', path, preflight))).text).not.toMatch(/access-control-allow/i)
      expect((await exchange(port, request('GET', path, [...evil, bearer(TEST_MANAGEMENT_KEY)]))).text).not.toMatch(/access-control-allow/i)
    }
    expect((await exchange(port, request('POST', '/api/v1/responses', [...evil, bearer(TEST_KEY)], good))).text).not.toMatch(/access-control-allow/i)
  })

  it(verifies('F8', 'shows no answer as a page: everything is JSON, text or an event stream, errors with markup in them as well'), async () => {
    const paths = ['/api/v1/%3Cscript%3Ealert(1)%3C/script%3E', '/metrics', '/openapi.json', '/healthz', '/api/v1/models']
    for (const path of paths) {
      expect((await exchange(port, request('GET', path, [bearer(TEST_KEY)]))).text).not.toMatch(/content-type: text\/html/i)
    }
  })
})

describe('what is served without a key', () => {
  it(verifies('F10', 'contains no key, no secret, no address of an upstream, no prompt and no answer'), async () => {
    const canary = 'canary-of-a-prompt'
    await (await gateway.respond({ ...BODY, input: canary, user: canary, session_id: canary, metadata: { canary } })).text()
    await gateway.respond({ ...BODY, model: `acme/${canary}` })
    await (await gateway.api('POST', '/api/v1/keys', { name: canary })).text()
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/', '/api/v1/nothing']) {
      const text = await (await fetch(`${gateway.url}${path}`)).text()
      expect(text).not.toContain(canary)
      expect(text).not.toContain('upstream-key-0')
      expect(text).not.toContain(upstream.url)
      expect(text).not.toContain(hashKey(TEST_KEY))
      expect(text).not.toMatch(/sk-sb-(mgmt-)?v1-\w{3}/)
      expect(text).not.toMatch(/signalbox-\w{6}|\/tmp\/|node_modules/)
    }
  })

  it(verifies('F10', 'takes no metric label from what callers write: labels are bounded'), async () => {
    for (let n = 0; n < 50; n++) await gateway.respond({ ...BODY, model: `acme/made-up-${n}` }, { headers: { 'x-title': `app ${n}` } })
    expect(await (await fetch(`${gateway.url}/metrics`)).text()).not.toContain('made-up-')
  })
})

describe('headers that are passed on', () => {
  it(verifies('F11', 'are shortened and free of control characters'), async () => {
    const answer = await exchange(
      port,
      request(
        'POST',
        '/api/v1/responses',
        [
          bearer(TEST_KEY),
          `http-referer: https://a.test/\t${'x'.repeat(5_000)}`,
          'x-title: \u0085\u009b31mred <script>',
          `user-agent: ${'y'.repeat(4_000)}`,
        ],
        good,
      ),
    )
    expect(answer.statuses).toEqual([200])
    const id = /x-generation-id: (\S+)/.exec(answer.text)![1]!
    const record = JSON.stringify(await (await gateway.api('GET', `/api/v1/generation?id=${id}`)).json())
    expect(record).not.toMatch(/\\u00|\\t|\u0085|\u009b/)
    expect(record).not.toMatch(/x{600}|y{600}/)
  })
})

describe('where a request goes', () => {
  it.each([
    ['a field of the body', { base_url: 'http://127.0.0.1:9/v1', api_base: 'http://127.0.0.1:9', api_key: 'mine' }, {}],
    ['provider preferences', { provider: { base_url: 'http://127.0.0.1:9/v1' } }, {}],
    [
      'headers of other gateways',
      {},
      { 'x-portkey-custom-host': 'http://127.0.0.1:9', 'x-base-url': 'http://127.0.0.1:9', 'helicone-target-url': 'http://127.0.0.1:9' },
    ],
    ['metadata', { metadata: { base_url: 'http://127.0.0.1:9/v1' } }, {}],
    ['a model that is an address', { model: 'http://127.0.0.1:9/v1' }, {}],
    ['a model with dots', { model: 'acme/../../admin' }, {}],
    ['an author that is a host', { model: '127.0.0.1:9/small' }, {}],
  ])(verifies('E1', 'is not decided by %s'), async (_name, fields, headers) => {
    const seen = upstream.requests.length
    const response = await gateway.respond({ ...BODY, ...fields }, { headers })
    await response.text()
    expect([200, 400, 404]).toContain(response.status)
    const asked = upstream.requests.slice(seen)
    expect(asked).toHaveLength(response.status === 200 ? 1 : 0)
    for (const one of asked) {
      expect(one.path).toBe('/v1/chat/completions')
      expect(one.headers.authorization).toBe('Bearer upstream-key-0')
      expect(one.headers.host).toBe(new URL(upstream.url).host)
    }
  })
})

describe('protected fields in management requests', () => {
  it.each([
    ['POST', '/api/v1/keys', { name: 'x', hash: 'aa' }],
    ['POST', '/api/v1/keys', { name: 'x', workspaceId: 'other' }],
    ['POST', '/api/v1/keys', { name: 'x', usage: -100 }],
    ['POST', '/api/v1/keys', { name: 'x', revokedAt: null }],
    ['POST', '/api/v1/workspaces', { name: 'x', slug: 'x', is_default: true }],
    ['POST', '/api/v1/workspaces', { name: 'x', slug: 'y', id: '00000000-0000-0000-0000-000000000000' }],
    ['POST', '/api/v1/observability/destinations', { type: 'webhook', name: 'x', config: { url: 'https://a.test' }, id: 'mine' }],
  ])(verifies('F2', '%s %s with %j is refused'), async (method, path, body) => {
    const response = await gateway.api(method, path, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { metadata: { error_type: 'invalid_request' } } })
  })
})

describe('an answer', () => {
  it(verifies('H6', 'belongs to its own call: nothing is served from a cache, even if two calls are identical'), async () => {
    const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'another caller' })).json()) as { key: string }
    const same = { ...BODY, prompt_cache_key: 'same', session_id: 'same', user: 'same', temperature: 0, seed: 1 }
    const seen = upstream.requests.length
    const answers = await Promise.all(
      [TEST_KEY, TEST_KEY, made.key].map(async (key) => (await (await gateway.respond(same, { key })).json()) as { id: string }),
    )
    expect(upstream.requests.length - seen).toBe(3)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3)
  })
})

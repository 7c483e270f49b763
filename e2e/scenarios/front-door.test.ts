import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Requests that the front door refuses, over real sockets: the right status, one clear sentence, and nothing reaches an upstream. */
let upstream: FakeUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url]))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const good = { model: 'acme/small', input: 'hi' }
const pairs = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']))

const refused: readonly (readonly [name: string, body: unknown, status: number, says: RegExp])[] = [
  ['malformed JSON', '{"model": "acme/small", "input": ', 400, /not valid JSON/],
  ['a JSON array', '[]', 400, /object/],
  ['an empty body', '', 400, /JSON/],
  ['a wrong type', { ...good, temperature: 'hot' }, 400, /temperature/],
  [
    'a wrong type deep inside',
    { ...good, input: [{ role: 'user', content: [{ type: 'input_image', image_url: 7, detail: 'auto' }] }] },
    400,
    /input\[0\]\.content\[0\]\.image_url/,
  ],
  ['an unknown enum value', { ...good, service_tier: 'platinum' }, 400, /service_tier/],
  ['17 metadata pairs', { ...good, metadata: pairs(17) }, 400, /metadata/],
  ['brackets in a metadata key', { ...good, metadata: { 'a[0]': 'x' } }, 400, /metadata/],
  ['a metadata key of 65 characters', { ...good, metadata: { ['k'.repeat(65)]: 'x' } }, 400, /metadata/],
  ['a session id of 257 characters', { ...good, session_id: 's'.repeat(257) }, 400, /session_id/],
  ['a user of 257 characters', { ...good, user: 'u'.repeat(257) }, 400, /user/],
  ['store: true', { ...good, store: true }, 400, /store/],
  ['a previous response', { ...good, previous_response_id: 'resp_1' }, 400, /previous_response_id/],
  ['a stored conversation', { ...good, conversation: 'conv_1' }, 400, /conversation must be null/],
  ['a stored conversation as an object', { ...good, conversation: { id: 'conv_1' } }, 400, /conversation must be null/],
  ['an unknown model', { ...good, model: 'acme/large' }, 404, /acme\/large/],
  ['nesting of 10,000', `{"model":"acme/small","input":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 400, /nest/],
  ['a __proto__ key', '{"model":"acme/small","input":"hi","__proto__":{"admin":true}}', 400, /__proto__/],
  ['an empty input', { model: 'acme/small', input: [] }, 400, /input/],
  ['a stored prompt alone, where nobody keeps prompts', { model: 'acme/small', prompt: { id: 'pmpt_1' } }, 400, /"prompt"/],
  [
    'a forced tool that is not offered',
    { ...good, tools: [{ type: 'function', name: 'a', parameters: {} }], tool_choice: { type: 'function', name: 'b' } },
    422,
    /tool/,
  ],
  ['an unknown plugin', { ...good, plugins: [{ id: 'no-such-plugin' }] }, 400, /plugin/],
]

describe('a bad body', () => {
  it.each(refused)(verifies('S2-bad-input', 'P22', '%s is refused in one sentence'), async (_name, body, status, says) => {
    const seen = upstream.requests.length
    const response = await gateway.respond(body)
    const text = await response.text()
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json')
    const { error } = JSON.parse(text) as { error: { code: number; message: string; metadata: { error_type: string } } }
    expect(error.code).toBe(status)
    expect(error.message).toMatch(says)
    expect(text.length).toBeLessThan(1_024)
    expect(error.metadata.error_type).toBeTypeOf('string')
    expect(upstream.requests).toHaveLength(seen)
  })

  it(verifies('P28', 'A3', 'larger than the limit is refused while it arrives, whether or not its length was declared'), async () => {
    const port = Number(new URL(gateway.url).port)
    const send = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          { port, method: 'POST', path: '/api/v1/responses', headers: { authorization: `Bearer ${TEST_KEY}`, ...headers } },
          (response) => {
            response.resume()
            request.destroy()
            resolve(response.statusCode ?? 0)
          },
        )
        request.on('error', reject)
        const block = Buffer.alloc(1024 * 1024, ' ')
        let sent = 0
        const pump = (): void => {
          while (sent++ < 33) if (!request.write(block)) return void request.once('drain', pump)
          request.end()
        }
        pump()
      })
    expect(await send({ 'content-length': String(33 * 1024 * 1024) })).toBe(413)
    expect(await send({ 'transfer-encoding': 'chunked' })).toBe(413)
  })

  it.each([true, false])(`${verifies('P28', 'just within the limit is served, whole')} (stream: %s)`, async (stream) => {
    // The limit is 32 MiB. The rest is for the other parts of the request, and for what an upstream's format adds.
    const image_url = `data:image/png;base64,${'A'.repeat(31 * 1024 * 1024)}`
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_image', detail: 'auto', image_url }] }]
    const response = await fetch(`${gateway.url}/api/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/small', input, stream }),
    })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('hello')
    const { messages } = upstream.requests.at(-1)!.body as { messages: readonly { content: readonly { image_url: { url: string } }[] }[] }
    expect(messages[0]!.content[0]!.image_url.url === image_url).toBe(true)
  })

  it(verifies('A12', 'in an encoding the gateway does not decode is refused, not misread'), async () => {
    const response = await gateway.respond(good, { headers: { 'content-encoding': 'gzip' } })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('gzip')
  })

  it('with a lone surrogate is repaired and answered', async () => {
    const response = await gateway.respond('{"model":"acme/small","input":"half \\ud83d"}')
    expect(response.status).toBe(200)
    expect(JSON.stringify(upstream.requests.at(-1)!.body)).toContain('\ufffd')
  })
})

describe('keys', () => {
  it.each([
    ['no key', {}, 401],
    ['another scheme', { authorization: 'Basic abc' }, 401],
    ['an unknown key', { authorization: 'Bearer sk-sb-v1-unknown' }, 401],
    ['an absurdly long key', { authorization: `Bearer ${'x'.repeat(8_000)}` }, 401],
  ] as const)('%s is %s', async (_name, headers, status) => {
    const response = await fetch(`${gateway.url}/api/v1/responses`, { method: 'POST', headers, body: JSON.stringify(good) })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code: status, metadata: { error_type: 'authentication' } } })
  })

  it('of the wrong kind are 403 in both directions', async () => {
    expect((await gateway.respond(good, { key: gateway.managementKey })).status).toBe(403)
    const response = await gateway.api('GET', '/api/v1/keys', undefined, gateway.key)
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { message: 'Only management keys can perform this operation' } })
  })

  it.each(['/api/v1/models', '/api/v1/providers', '/api/v1/generation?id=x'])('guard %s', async (path) => {
    expect((await fetch(`${gateway.url}${path}`)).status).toBe(401)
  })

  it.each(['/healthz', '/readyz', '/metrics', '/openapi.json'])('are not required at %s', async (path) => {
    // Right after the start the gateway is not ready yet.
    await expect.poll(async () => (await fetch(`${gateway.url}${path}`)).status, { timeout: 10_000 }).toBe(200)
  })
})

describe('headers', () => {
  it('carry the generation id, echo a sane request id and drop a hostile one', async () => {
    const response = await gateway.respond(good, { headers: { 'x-request-id': 'req-42' } })
    expect(response.headers.get('x-generation-id')).toMatch(/^gen-\d+-\w{20}$/)
    expect(response.headers.get('x-request-id')).toBe('req-42')
    expect((await gateway.respond(good, { headers: { 'x-request-id': 'a b' } })).headers.get('x-request-id')).toMatch(/^gen-/)
  })

  it.each([
    ['X-Gateway-Experimental-Metadata', 'gateway_metadata'],
    ['X-OpenRouter-Metadata', 'openrouter_metadata'],
    ['X-OpenRouter-Experimental-Metadata', 'openrouter_metadata'],
  ])('%s: enabled adds the metadata under %s', async (header, field) => {
    const answer = (await (await gateway.respond(good, { headers: { [header]: 'Enabled' } })).json()) as Record<string, unknown>
    expect(answer[field]).toMatchObject({ requested: 'acme/small', strategy: 'direct', attempt: 1 })
    expect(await (await gateway.respond(good, { headers: { [header]: 'yes' } })).json()).not.toHaveProperty(field)
  })

  it('add it to an error, too, if routing was involved', async () => {
    const response = await gateway.respond({ ...good, model: 'acme/large' }, { headers: { 'x-gateway-experimental-metadata': 'enabled' } })
    expect(await response.json()).toMatchObject({ error: { code: 404 }, gateway_metadata: { requested: 'acme/large', attempt: 0 } })
  })
})

describe('HTTP itself', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () => socket.write(text))
      let answer = ''
      socket.on('data', (chunk) => (answer += chunk.toString()))
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
      setTimeout(() => socket.destroy(), 1_500)
    })

  it.each([
    ['two lengths', 'POST /api/v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\n{}'],
    ['length and chunks', 'POST /api/v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: b\r\n c\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n\r\n'],
    ['garbage', 'HELLO\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
  ])('%s is refused', async (_name, text) => {
    const answer = await raw(text)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code: 400, metadata: { error_type: 'invalid_request' } } })
  })

  it.each(['/healthz', '/readyz', '/metrics', '/openapi.json'])('answers HEAD %s like GET, without the body', async (path) => {
    const answer = await raw(`HEAD ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer.endsWith('\r\n\r\n')).toBe(true)
  })

  it.each(['OPTIONS / HTTP/1.0\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'])(
    'reports that it is ready to load balancers that probe %j by default',
    async (asked) => {
      await expect.poll(() => raw(asked), { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ready"\}$/)
    },
  )

  it('answers the next request on the same connection after an error', async () => {
    const one = 'GET /api/v1/models HTTP/1.1\r\nhost: x\r\n\r\n'
    const two = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
    expect((await raw(one + two)).match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
  })

  it.each(['//api/v1/models', '/api/v1/%6dodels/../models', 'http://evil.test/api/v1/models'])('reaches no route unguarded by %s', async (target) => {
    const answer = await raw(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 (401|404|400) /)
  })
})

describe('the catalog', () => {
  it('lists the models, endpoints and providers it serves', async () => {
    const models = (await (await gateway.api('GET', '/api/v1/models')).json()) as { data: { id: string }[] }
    expect(models.data.map(({ id }) => id)).toContain('acme/small')
    expect(await (await gateway.api('GET', '/api/v1/models/acme/small/endpoints')).json()).toMatchObject({
      data: { id: 'acme/small', endpoints: [{ tag: 'acme' }] },
    })
    expect((await gateway.api('GET', '/api/v1/models/acme/none/endpoints')).status).toBe(404)
    expect(await (await gateway.api('GET', '/api/v1/providers')).json()).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ slug: 'acme' })]),
    })
  })
})

describe('one model', () => {
  it.each(['acme/small', 'acme%2Fsmall', 'acme/small:nitro'])('is what the list says of it: %s', async (name) => {
    const { data } = (await (await gateway.api('GET', '/api/v1/models')).json()) as { data: { id: string }[] }
    const listed = data.find(({ id }) => id === 'acme/small')
    expect(await (await gateway.api('GET', `/api/v1/models/${name}`)).json()).toEqual({ ...listed, object: 'model', owned_by: 'acme' })
  })
  it.each(['acme/none', 'acme%2Fnone', 'none', '..%2F..%2Fkeys'])('without an endpoint is not found: %s', async (name) => {
    const answer = await gateway.api('GET', `/api/v1/models/${name}`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 404, message: expect.stringContaining('No endpoint serves') } })
  })
  it('with an empty name is not the list, and the error says where the list is', async () => {
    const answer = await gateway.api('GET', '/api/v1/models/')
    expect(await answer.json()).toMatchObject({
      error: { code: 404, message: expect.stringContaining('models are listed with GET /api/v1/models,') },
    })
  })
})

describe('usage and cost', () => {
  it('are the same in stream and JSON, priced by the catalog, and on record', async () => {
    const json = (await (await gateway.respond(good)).json()) as { id: string; usage: { cost: number } }
    // 11 prompt tokens of which 3 are cached, 7 completion tokens: (8 x 1 + 3 x 0.1 + 7 x 2) / 1e6.
    expect(json.usage).toMatchObject({
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens: 7,
      total_tokens: 18,
      is_byok: false,
    })
    expect(json.usage.cost).toBeCloseTo(22.3e-6, 12)
    const streamed = await (await gateway.respond({ ...good, stream: true })).text()
    const terminal = JSON.parse(
      streamed
        .split('\n')
        .findLast((line) => line.startsWith('data: {'))!
        .slice(6),
    ) as { response: { usage: object } }
    expect(terminal.response.usage).toEqual(json.usage)
    const record = (await (await gateway.api('GET', `/api/v1/generation?id=${json.id}`)).json()) as { data: { total_cost: number } }
    expect(record.data).toMatchObject({ id: json.id, tokens_prompt: 11, tokens_completion: 7, native_tokens_cached: 3 })
    expect(record.data.total_cost).toBeCloseTo(22.3e-6, 12)
  })
})

import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { startFakeUpstream, status, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { generationSpans } from '../../src/testing/received-spans.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** `POST /api/v1/embeddings`: the same routing, failover, limits, records and destinations as for model answers. */
type Json = { readonly [field: string]: unknown }

let first: FakeUpstream
let second: FakeUpstream
let collector: FakeDestination
let gateway: TestGateway
beforeAll(async () => {
  first = await startFakeUpstream()
  second = await startFakeUpstream()
  collector = await startFakeDestination()
  const provider = (slug: string, { url }: FakeUpstream): Json => ({ slug, name: slug, dialect: 'openai-chat', base_url: url, api_keys: ['k'] })
  const endpoint = (slug: string): Json => ({ provider: slug, upstream_model: 'embed-1', pricing: { input: 100 } })
  gateway = await startGateway({
    providers: [provider('acme', first), provider('backup', second)],
    models: [
      { slug: 'acme/embedder', context_length: 8_192, endpoints: [endpoint('acme'), endpoint('backup')] },
      { slug: 'acme/mystery', answers: 'embeddings', endpoints: [{ ...endpoint('acme'), upstream_model: 'mystery-1' }] },
      { slug: 'acme/small', endpoints: [{ provider: 'acme', upstream_model: 'small-1', pricing: { input: 1, output: 1 } }] },
    ],
    routing: { retries: false, cooldown: false },
    defaults: { plugins: [{ id: 'web' }] },
  })
  const destination = { type: 'webhook', name: 'hook', config: { url: `${collector.url}/hook` } }
  expect((await gateway.api('POST', '/api/v1/observability/destinations', destination)).status).toBe(201)
})
beforeEach(() => {
  first.script(vectors)
  second.script(vectors)
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([first.close(), second.close(), collector.close()])
})

/** A vector for each input: its position and its number of characters. */
const vectors: Reply = ({ body }, response) => {
  const inputs = body['input'] as readonly unknown[]
  const asked = body['encoding_format'] === 'base64'
  const write = (vector: readonly number[]): unknown => (asked ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector)
  const data = inputs.map((input, index) => ({ object: 'embedding', index, embedding: write([index, String(input).length]) }))
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ object: 'list', data, model: 'embed-1', usage: { prompt_tokens: 10, total_tokens: 10 } }))
}

const order = { provider: { order: ['acme', 'backup'] } }
async function embed(body: Json, key = gateway.key): Promise<{ readonly status: number; readonly headers: Headers; readonly json: Json }> {
  const response = await fetch(`${gateway.url}/api/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-experimental-metadata': 'enabled' },
    body: JSON.stringify({ model: 'acme/embedder', ...order, ...body }),
  })
  return { status: response.status, headers: response.headers, json: (await response.json()) as Json }
}
async function recordOf(id: string): Promise<Json> {
  const find = async (): Promise<Response> => gateway.api('GET', `/api/v1/generation?id=${id}`, undefined, gateway.key)
  await expect.poll(async () => (await find()).status).toBe(200)
  return ((await (await find()).json()) as { readonly data: Json }).data
}

/** The attributes that the destination received about a call. */
async function attributesOf(id: string): Promise<Json> {
  const find = () => generationSpans(collector.accepted).find(({ generationId }) => generationId === id)
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  const attributes = find()!.span['attributes'] as readonly { readonly key: string; readonly value: Json }[]
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value]))
}

describe('the OpenAI client', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: gateway.key, maxRetries: 0 })

  it('gets numbers, which it asks for as base64', async () => {
    const before = first.requests.length
    const answer = await client().embeddings.create({ model: 'acme/embedder', input: ['a', 'bcd'], ...order } as OpenAI.EmbeddingCreateParams)
    expect(answer.data.map(({ index, embedding }) => [index, embedding])).toEqual([
      [0, [0, 1]],
      [1, [1, 3]],
    ])
    expect(answer.usage).toMatchObject({ prompt_tokens: 10, total_tokens: 10 })
    expect(first.requests[before]).toMatchObject({
      path: '/v1/embeddings',
      body: { model: 'embed-1', input: ['a', 'bcd'], encoding_format: 'base64' },
    })
  })

  it('gets an error of its own kind', async () => {
    await expect(client().embeddings.create({ model: 'acme/nobody', input: 'a' })).rejects.toThrow(OpenAI.NotFoundError)
  })
})

describe('routing', () => {
  it.each<readonly [string, Reply]>([
    ['a status of 500', status(500, '{"error":{"message":"broken"}}')],
    ['a vector too few', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}')],
    ['a broken connection', (_, response) => void response.destroy()],
  ])('fails over from %s, and the caller sees nothing of it', async (_, broken) => {
    first.script(broken)
    const { status: code, json } = await embed({ input: 'abcd' })
    expect(code).toBe(200)
    expect(json).toMatchObject({ data: [{ embedding: [0, 4] }], gateway_metadata: { attempt: 2 } })
  })

  it('asks only endpoints that make vectors, and asks those for nothing else', async () => {
    expect(await embed({ model: 'acme/small', input: 'a' })).toMatchObject({
      status: 404,
      json: { error: { message: expect.stringContaining('makes no embeddings') as string } },
    })
    const answer = await gateway.respond({ model: 'acme/embedder', input: 'a', plugins: [{ id: 'web', enabled: false }] })
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('it makes embeddings, and nothing else')
  })

  it('accepts many texts that fit individually, and no text that is too long by itself', async () => {
    const many = await embed({ input: Array.from({ length: 50 }, () => 'word '.repeat(800)) })
    expect([many.status, (many.json['data'] as readonly unknown[]).length]).toEqual([200, 50])
    const before = first.requests.length
    expect(await embed({ input: ['a', 'word '.repeat(20_000)] })).toMatchObject({
      status: 400,
      json: { error: { metadata: { error_type: 'context_length_exceeded' } } },
    })
    expect(first.requests.length).toBe(before)
  })

  it('learns from the configuration that a model makes vectors where its name does not say so', async () => {
    expect(await embed({ model: 'acme/mystery', provider: undefined, input: 'abc' })).toMatchObject({
      status: 200,
      json: { data: [{ embedding: [0, 3] }] },
    })
  })

  it('gives the complete error where no endpoint serves', async () => {
    first.script(status(400, '{"error":{"message":"too long","code":"context_length_exceeded"}}'))
    second.script(status(400, '{"error":{"message":"too long","code":"context_length_exceeded"}}'))
    expect(await embed({ input: 'a' })).toMatchObject({ status: 400, json: { error: { metadata: { error_type: 'context_length_exceeded' } } } })
  })
})

describe('lists of models', () => {
  const idsAt = async (path: string): Promise<readonly string[]> => {
    const { data } = (await (await gateway.api('GET', path, undefined, gateway.key)).json()) as { readonly data: readonly { readonly id: string }[] }
    return data.map(({ id }) => id).filter((id) => id.startsWith('acme/'))
  }
  it('include embedding models for callers who ask for them', async () => {
    expect(await idsAt('/api/v1/models')).toEqual(['acme/small'])
    expect(await idsAt('/api/v1/embeddings/models')).toEqual(['acme/embedder', 'acme/mystery'])
    expect(await idsAt('/api/v1/models?output_modalities=embeddings')).toEqual(['acme/embedder', 'acme/mystery'])
    expect(await idsAt('/api/v1/models?output_modalities=all')).toEqual(['acme/embedder', 'acme/mystery', 'acme/small'])
  })
})

describe('records', () => {
  it('contain the endpoint, the cost and the input, but no vectors', async () => {
    const { json, headers } = await embed({ input: ['a', 'b'], user: 'u-1', session_id: 's-1', dimensions: 2, trace: { trace_name: 'index' } })
    expect(headers.get('x-generation-id')).toBe(json['id'])
    expect(json['usage']).toMatchObject({ cost: 0.001 })
    expect(await recordOf(json['id'] as string)).toMatchObject({
      api_type: 'embeddings',
      model: 'acme/embedder',
      provider_name: 'acme',
      finish_reason: 'stop',
      tokens_prompt: 10,
      tokens_completion: 0,
      total_cost: 0.001,
      external_user: 'u-1',
      session_id: 's-1',
      streamed: false,
    })
    const told = await attributesOf(json['id'] as string)
    expect(told).toMatchObject({
      'gen_ai.operation.name': { stringValue: 'embeddings' },
      'gen_ai.request.model': { stringValue: 'acme/embedder' },
      'gen_ai.request.dimensions': { intValue: '2' },
      'gen_ai.usage.input_tokens': { intValue: '10' },
      'trace.name': { stringValue: 'index' },
    })
    expect(JSON.stringify(told['gen_ai.prompt'])).toContain('b')
    expect(told).not.toHaveProperty('gen_ai.output.type')
  })

  it('of a failure contain the reason', async () => {
    first.script(status(500, '{"error":{"message":"broken"}}'))
    second.script(status(500, '{"error":{"message":"broken"}}'))
    const { headers, status: code } = await embed({ input: 'a' })
    expect(code).toBe(502)
    const record = await recordOf(headers.get('x-generation-id')!)
    expect(record).toMatchObject({ api_type: 'embeddings', total_cost: 0, provider_responses: [{ status: 500 }, { status: 500 }] })
  })
})

describe('processing of text answers', () => {
  it('is not applied to embeddings: default plugins would change the meaning of the texts', async () => {
    const before = first.requests.length
    await embed({ input: 'the weather' })
    expect(first.requests[before]!.body['input']).toEqual(['the weather'])
    expect(first.requests.length).toBe(before + 1)
  })

  it('budgets are enforced', async () => {
    const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'poor', limit: 0.005 })).json()) as { readonly key: string }
    const { status: code, json } = await embed({ input: 'x'.repeat(4_000) }, made.key)
    expect(code).toBe(402)
    expect(json).toMatchObject({ error: { metadata: { error_type: 'payment_required' } } })
    expect((await embed({ input: 'x' }, made.key)).status).toBe(200)
  })

  it('filters of guardrails read texts, and refuse what they cannot read', async () => {
    const rules = { name: 'no mail', content_filter_builtins: [{ slug: 'email', action: 'redact' }] }
    const made = (await (await gateway.api('POST', '/api/v1/guardrails', rules)).json()) as { readonly data: { readonly id: string } }
    const watched = (await (await gateway.api('POST', '/api/v1/keys', { name: 'watched' })).json()) as {
      readonly key: string
      readonly data: { readonly hash: string }
    }
    const assigned = await gateway.api('POST', `/api/v1/guardrails/${made.data.id}/assignments/keys`, { key_hashes: [watched.data.hash] })
    expect(assigned.status).toBe(200)
    const before = first.requests.length
    await embed({ input: ['write to ann@acme.example', 'b'] }, watched.key)
    expect(first.requests[before]!.body['input']).toEqual(['write to [EMAIL]', 'b'])
    expect(await embed({ input: [1, 2, 3] }, watched.key)).toMatchObject({
      status: 403,
      json: { error: { message: expect.stringContaining('in tokens') as string } },
    })
    expect((await embed({ input: [1, 2, 3] })).status).toBe(200)
  })
})

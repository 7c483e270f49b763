import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, status, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Requests for more vectors than a vendor creates in one request. */
type Json = { readonly [field: string]: unknown }

let first: FakeUpstream
let second: FakeUpstream
let clouds: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  first = await startFakeUpstream()
  second = await startFakeUpstream()
  clouds = await startFakeUpstream()
  const provider = (slug: string, { url }: FakeUpstream): Json => ({ slug, name: slug, dialect: 'openai-embeddings', base_url: url, api_keys: ['k'] })
  const endpoint = (slug: string): Json => ({ provider: slug, upstream_model: 'embed-1', pricing: { input: 100 }, options: { most_inputs: 2 } })
  gateway = await startGateway({
    providers: [
      provider('acme', first),
      provider('backup', second),
      { slug: 'amazon-bedrock', base_url: clouds.url, api_keys: ['bedrock-key'], settings: { region: 'us-east-1' } },
      { slug: 'google-vertex', base_url: clouds.url, api_keys: ['vertex-key'], settings: { project: 'p' } },
    ],
    models: [{ slug: 'acme/embedder', endpoints: [endpoint('acme'), endpoint('backup')] }],
    routing: { retries: false, cooldown: false },
  })
})
beforeEach(() => {
  first.script(vectors)
  second.script(vectors)
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([first.close(), second.close(), clouds.close()])
})

const json = (response: Parameters<Reply>[1], body: unknown): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A vector for each input: the number in its text. */
const vectors: Reply = ({ body }, response) => {
  const data = (body['input'] as readonly string[]).map((text, index) => ({ object: 'embedding', index, embedding: [Number(text)] }))
  json(response, { object: 'list', data, model: 'embed-1', usage: { prompt_tokens: 10, total_tokens: 10 } })
}
const unlessAbout =
  (text: string, other: Reply): Reply =>
  (request, response) =>
    (request.body['input'] as readonly string[]).includes(text) ? other(request, response) : vectors(request, response)

const ask = (body: Json, { key = gateway.key, signal }: { readonly key?: string; readonly signal?: AbortSignal } = {}): Promise<Response> =>
  fetch(`${gateway.url}/api/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-experimental-metadata': 'enabled' },
    body: JSON.stringify({ model: 'acme/embedder', ...body }),
    ...(signal === undefined ? {} : { signal }),
  })
const embed = async (body: Json): Promise<Json> => {
  const response = await ask(body)
  expect(response.status).toBe(200)
  return (await response.json()) as Json
}
/** The inputs of each later request, which may arrive in any order. */
const askedOf = ({ requests }: FakeUpstream, before: number): readonly (readonly string[])[] =>
  requests
    .slice(before)
    .map(({ body }) => body['input'] as readonly string[])
    .toSorted(([a = ''], [b = '']) => a.localeCompare(b))
const order = { provider: { order: ['acme', 'backup'] } }
const input = ['0', '1', '2', '3', '4']
const inOrder = input.map((text, index) => ({ object: 'embedding', index, embedding: [Number(text)] }))

describe('a server that takes two inputs at a time', () => {
  it('is asked three times for five, and the caller has one answer, counted and paid for as a whole', async () => {
    const before = first.requests.length
    const answer = await embed({ input, ...order })
    expect(askedOf(first, before)).toEqual([['0', '1'], ['2', '3'], ['4']])
    expect(answer).toMatchObject({ data: inOrder, usage: { prompt_tokens: 30, total_tokens: 30, cost: 0.003 }, gateway_metadata: { attempt: 1 } })
  })

  it('that fails one of the requests fails all: the next endpoint makes every vector', async () => {
    first.script(unlessAbout('3', status(500, '{"error":{"message":"broken"}}')))
    const before = second.requests.length
    const answer = await embed({ input, ...order })
    expect(answer).toMatchObject({ data: inOrder, usage: { prompt_tokens: 30 }, gateway_metadata: { attempt: 2 } })
    expect(askedOf(second, before).flat()).toEqual(input)
  })

  it('is aborted as soon as the caller leaves, who pays for the vectors made by then', async () => {
    const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'short of time', limit: 1 })).json()) as { readonly key: string }
    first.script(unlessAbout('2', () => undefined))
    const before = first.requests.length
    const gone = new AbortController()
    const asked = ask({ input, ...order }, { key: made.key, signal: gone.signal }).catch(() => undefined)
    await expect.poll(() => first.requests.length - before).toBe(3)
    const hung = first.requests.slice(before).find(({ body }) => (body['input'] as readonly string[]).includes('2'))!
    gone.abort()
    await asked
    await expect.poll(() => hung.abortedAt).toBeDefined()
    const spent = async (): Promise<unknown> => {
      const { data } = (await (await gateway.api('GET', '/api/v1/key', undefined, made.key)).json()) as { readonly data: Json }
      return data['usage']
    }
    await expect.poll(spent, { timeout: 5_000 }).toBeGreaterThan(0)
    expect([0.001, 0.002]).toContain(await spent())
  })
})

describe('clouds with formats of their own', () => {
  it('Bedrock is asked for each text of Titan, and for many of Cohere', async () => {
    clouds.script(({ body }, response) =>
      'inputText' in body
        ? json(response, { embedding: [Number(body['inputText'])], inputTextTokenCount: 2 })
        : json(response, {
            id: 'c-1',
            response_type: 'embeddings_by_type',
            embeddings: { float: (body['texts'] as string[]).map((text) => [Number(text)]) },
          }),
    )
    const before = clouds.requests.length
    const titan = await embed({ model: 'amazon/titan-embed-text-v2', input })
    expect(titan).toMatchObject({ data: inOrder, usage: { prompt_tokens: 10 } })
    const asked = clouds.requests.slice(before)
    expect(asked.map(({ body }) => body['inputText']).toSorted()).toEqual(input)
    expect(asked[0]).toMatchObject({
      path: '/v1/model/amazon.titan-embed-text-v2%3A0/invoke',
      headers: { authorization: 'Bearer bedrock-key', accept: 'application/json' },
    })
    const cohere = await embed({ model: 'amazon-bedrock/us.cohere.embed-v4:0', input, input_type: 'search_query' })
    expect(cohere).toMatchObject({ data: inOrder })
    expect(clouds.requests.at(-1)).toMatchObject({
      path: '/v1/model/us.cohere.embed-v4%3A0/invoke',
      body: { texts: input, input_type: 'search_query', embedding_types: ['float'] },
    })
  })

  it('Vertex AI is asked for many texts, or for one where the model takes no more', async () => {
    const one = (text: unknown) => ({ embeddings: { values: [Number(text)], statistics: { token_count: 2, truncated: false } } })
    clouds.script(({ path, body }, response) => {
      if (path.endsWith(':predict')) return json(response, { predictions: (body['instances'] as readonly Json[]).map(({ content }) => one(content)) })
      const [part] = (body['content'] as { readonly parts: readonly Json[] }).parts
      return json(response, { embedding: { values: [Number(part!['text'])] }, usageMetadata: { promptTokenCount: 2 } })
    })
    for (const [model, path, requests] of [
      ['google-vertex/text-embedding-005', 'text-embedding-005:predict', 1],
      ['google/gemini-embedding-001', 'gemini-embedding-001:predict', 5],
      ['google/gemini-embedding-2', 'gemini-embedding-2:embedContent', 5],
    ] as const) {
      const before = clouds.requests.length
      expect(await embed({ model, input })).toMatchObject({ data: inOrder, usage: { prompt_tokens: 10 } })
      expect(clouds.requests.slice(before).map((request) => request.path)).toEqual(
        Array.from({ length: requests }, () => `/v1/publishers/google/models/${path}`),
      )
    }
  })
})

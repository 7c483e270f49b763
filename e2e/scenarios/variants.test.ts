import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A variant (`acme/small:free`) is a separate model with its own endpoints, price and list entry, and has that name everywhere. */
let cheap: FakeUpstream
let dear: FakeUpstream
let paid: FakeUpstream
let gateway: TestGateway

const USAGE = { prompt_tokens: 2_000, completion_tokens: 2, total_tokens: 2_002, prompt_tokens_details: { cached_tokens: 1_500 } }
const says = (text: string) => stream([chatEvents.role(), chatEvents.text(text), chatEvents.finish(), chatEvents.usage(USAGE), chatEvents.done()])
const tooLong = {
  error: { message: "This model's maximum context length is 8000 tokens", type: 'invalid_request_error', code: 'context_length_exceeded' },
}

beforeEach(async () => {
  cheap = await startFakeUpstream(says('from the cheap one'))
  dear = await startFakeUpstream(says('from the dear one'))
  paid = await startFakeUpstream(says('from the paid one'))
  const provider = (slug: string, { url }: FakeUpstream): object => ({ slug, name: slug, dialect: 'openai-chat', base_url: url, api_keys: ['k'] })
  const endpoint = (slug: string, price: number, variant?: string): object => ({
    provider: slug,
    upstream_model: 'm',
    pricing: { input: price, output: price },
    ...(variant === undefined ? {} : { variant }),
  })
  gateway = await startGateway({
    providers: [provider('cheap', cheap), provider('dear', dear), provider('paid', paid)],
    models: [
      {
        slug: 'acme/small',
        context_length: 8_000,
        endpoints: [endpoint('cheap', 0.001, 'free'), endpoint('dear', 10, 'free'), endpoint('paid', 1)],
      },
    ],
  })
})
afterEach(async () => {
  await gateway.close()
  await Promise.all([cheap, dear, paid].map((upstream) => upstream.close()))
})

const FREE = 'acme/small:free'
const ask = async (
  body: object,
  headers: object = {},
): Promise<{ readonly response: Response; readonly answer: { readonly [field: string]: unknown } }> => {
  const response = await gateway.respond({ input: 'hi', ...body }, { headers: { 'x-gateway-experimental-metadata': 'enabled', ...headers } })
  return { response, answer: (await response.json()) as { readonly [field: string]: unknown } }
}

describe('a variant', () => {
  it('is named in the answer, its metadata and its record', async () => {
    const { answer } = await ask({ model: FREE, provider: { only: ['cheap'] } })
    expect(answer).toMatchObject({ output_text: 'from the cheap one', model: FREE })
    expect(answer['gateway_metadata']).toMatchObject({
      endpoints: { available: [{ provider: 'cheap', model: FREE, selected: true }] },
      attempts: [{ provider: 'cheap', model: FREE, status: 200 }],
    })
    const record = await gateway.api('GET', `/api/v1/generation?id=${answer['id'] as string}`, undefined, gateway.key)
    expect(await record.json()).toMatchObject({ data: { model: FREE, provider_responses: [{ model_permaslug: FREE }] } })
    const { answer: other } = await ask({ model: 'acme/small:floor' })
    expect(other).toMatchObject({ output_text: 'from the paid one', model: 'acme/small' })
  })

  it('keeps a conversation at the endpoint where its prompt was cached', async () => {
    await ask({ model: FREE, provider: { ignore: ['cheap'] } })
    for (let n = 0; n < 3; n++) expect((await ask({ model: FREE })).answer).toMatchObject({ output_text: 'from the dear one' })
  })

  it('that refuses a prompt as too long is followed by the model itself', async () => {
    for (const upstream of [cheap, dear]) upstream.script(status(400, tooLong))
    const { answer } = await ask({ models: [FREE, 'acme/small'] })
    expect(answer).toMatchObject({ output_text: 'from the paid one', model: 'acme/small' })
    expect(cheap.requests.length + dear.requests.length).toBe(1)
  })

  it('serves cached answers', async () => {
    const [first, second] = [await ask({ model: FREE }, { 'x-gateway-cache': 'true' }), await ask({ model: FREE }, { 'x-gateway-cache': 'true' })]
    expect([first, second].map(({ response }) => response.headers.get('x-gateway-cache-status'))).toEqual(['MISS', 'HIT'])
    expect(second.answer).toMatchObject({ model: FREE })
  })
})

it('`:exacto` prefers endpoints whose calls of tools can be run', async () => {
  const calls = (args: string) =>
    stream([chatEvents.role(), chatEvents.call(0, 'c', 'look', args), chatEvents.finish('tool_calls'), chatEvents.done()])
  cheap.script(calls('{"at":'))
  dear.script(calls('{"at":1}'))
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }]
  const askOf = (only: string) => Promise.all(Array.from({ length: 20 }, () => ask({ model: FREE, tools, provider: { only: [only] } })))
  await askOf('cheap')
  await askOf('dear')
  const { answer } = await ask({ model: FREE, tools, provider: { sort: 'exacto' } })
  expect(answer['gateway_metadata']).toMatchObject({ attempts: [{ provider: 'dear', status: 200 }] })
})

import { afterEach, beforeEach, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Pictures that a model drew in earlier turns go back to it and are a part of the prompt that the vendor charges for. */
let upstream: FakeUpstream
let gateway: TestGateway

const DRAWN = Array.from({ length: 40 }, () => [
  { role: 'user', content: 'Draw.' },
  { type: 'image_generation_call', status: 'completed', result: 'iVBORw0KGgo=' },
]).flat()

const createKey = async (limit: number): Promise<string> =>
  ((await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit })).json()) as { readonly key: string }).key
const ask = (model: string, key: string = gateway.key): Promise<Response> =>
  gateway.respond({ model, input: [...DRAWN, { role: 'user', content: 'Which is best?' }], max_output_tokens: 16 }, { key })

beforeEach(async () => {
  upstream = await startFakeUpstream(stream([chatEvents.role(), chatEvents.text('The last.'), chatEvents.finish(), chatEvents.done()]))
  const provider = { dialect: 'openai-chat', base_url: upstream.url, api_keys: ['key'] }
  const model = (slug: string) => ({
    slug: `acme/${slug}`,
    context_length: 200_000,
    endpoints: [{ provider: slug, upstream_model: `${slug}-1`, pricing: { input: 1, output: 2 } }],
  })
  gateway = await startGateway({
    providers: [
      { slug: 'draws', ...provider, options: { image_output: true } },
      { slug: 'writes', ...provider },
    ],
    models: [
      model('draws'),
      model('writes'),
      {
        slug: 'acme/fox-image',
        context_length: 200_000,
        endpoints: [{ provider: 'draws', upstream_model: 'fox-image-1', pricing: { input: 1, output: 2, output_image: 30 } }],
      },
    ],
    routing: { sticky: false, cooldown: false, retries: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

it('a budget is checked against what pictures of earlier answers cost', async () => {
  const poor = await ask('acme/draws', await createKey(0.01))
  expect([poor.status, upstream.requests.length]).toEqual([402, 0])
  await poor.arrayBuffer()
  upstream.script(stream(chatText('The last.')))
  const rich = await ask('acme/draws', await createKey(0.05))
  expect([rich.status, upstream.requests.length]).toEqual([200, 1])
  await rich.arrayBuffer()
})

it('an answer that nobody counted is charged for pictures that its endpoint got, and for no others', async () => {
  const costAt = async (model: string): Promise<number> => ((await (await ask(model)).json()) as { usage: { cost: number } }).usage.cost
  expect(await costAt('acme/draws')).toBeGreaterThan(0.02)
  expect(await costAt('acme/writes')).toBeLessThan(0.002)
})

it('a picture that was drawn is paid for, whether its vendor counts it or its caller leaves as soon as it has it', async () => {
  const picture = { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }
  const drawn = [chatEvents.role(), { ...chatEvents.role(), choices: [{ index: 0, delta: picture, finish_reason: null }] }]
  upstream.script(stream([...drawn, chatEvents.finish(), chatEvents.done()]))
  const request = { model: 'acme/fox-image', input: 'Draw.', modalities: ['image', 'text'] }
  const { usage } = (await (await gateway.respond(request)).json()) as { usage: { cost: number } }
  expect(usage.cost).toBeGreaterThan(0.03)

  upstream.script(stream(drawn, { then: 'hang' }))
  const leaves = new AbortController()
  const response = await gateway.respond({ ...request, stream: true }, { signal: leaves.signal })
  let seen = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) if ((seen += chunk).includes('output_item.done')) break
  leaves.abort()
  const recorded = `/api/v1/generation?id=${response.headers.get('x-generation-id')}`
  await expect
    .poll(
      async () => ((await (await gateway.api('GET', recorded, undefined, gateway.key)).json()) as { data?: { total_cost: number } }).data?.total_cost,
    )
    .toBeGreaterThan(0.03)
})

it.each([
  ['says nothing of pictures', {}, 1_290 * 30 + 10 * 2],
  ['counts none', { image_tokens: 0 }, 1_290 * 30 + 10 * 2],
  ['counts them', { image_tokens: 1_120 }, 1_120 * 30 + 180 * 2],
])('a picture has the price of pictures where its server counts the output and %s', async (_what, completion_tokens_details, output) => {
  const picture = { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }
  const usage = { prompt_tokens: 10, completion_tokens: 1_300, total_tokens: 1_310, completion_tokens_details }
  const drawn = { ...chatEvents.role(), choices: [{ index: 0, delta: picture, finish_reason: null }] }
  upstream.script(stream([chatEvents.role(), drawn, chatEvents.finish(), chatEvents.usage(usage), chatEvents.done()]))
  const answer = (await (await gateway.respond({ model: 'acme/fox-image', input: 'Draw.' })).json()) as { usage: { cost: number } }
  expect(answer.usage.cost).toBeCloseTo((10 + output) / 1e6, 9)
})

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
    models: [model('draws'), model('writes')],
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

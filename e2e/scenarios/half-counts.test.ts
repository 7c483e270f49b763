import { afterAll, beforeAll, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A server that counts the prompt, most of it cached, and nothing else. What it has counted is charged, however many turns an answer has. */
const HALF = { prompt_tokens: 5_000, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 4_000 } }
const PROMPT_USD = (1_000 * 1 + 4_000 * 0.1) / 1e6
/** A token of output, of which every answer here has a few, costs nothing that matters. */
const PRICES = { input: 1, output: 1e-6, cache_read: 0.1 }

const says = (...events: readonly unknown[]) => stream([chatEvents.role(), ...events, chatEvents.finish(), chatEvents.usage(HALF), chatEvents.done()])
const text = says(chatEvents.text('It is noon.'))
const calls = (name: string, args: object) =>
  says({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name, arguments: JSON.stringify(args) } }] } }] })

let upstream: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream(text)
  gateway = await startGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['key'] }],
    models: [{ slug: 'acme/one', context_length: 200_000, endpoints: [{ provider: 'acme', upstream_model: 'one', pricing: PRICES }] }],
    routing: { sticky: false, cooldown: false, retries: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

it.each([
  ['an answer', 1, [text], []],
  ['every turn of a loop of tools', 2, [calls('datetime', {}), text], [{ type: 'gateway:datetime' }]],
  ['what a tool asks a model', 3, [calls('advisor', { prompt: 'When?' }), text, text], [{ type: 'gateway:advisor' }]],
])(verifies('P32', 'the prompt that a careless server has counted is charged in %s'), async (_what, prompts, replies, tools) => {
  upstream.script(...replies)
  const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { data: { hash: string }; key: string }
  const response = await gateway.respond({ model: 'acme/one', input: 'hi', tools }, { key: made.key })
  const { usage } = (await response.json()) as { usage: { cost: number } }
  expect(usage.cost).toBeCloseTo(prompts * PROMPT_USD, 8)
  const { data } = (await (await gateway.api('GET', `/api/v1/keys/${made.data.hash}`)).json()) as { data: { usage: number } }
  expect(data.usage).toBeCloseTo(usage.cost, 9)
})

import { afterEach, beforeEach, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** What a turn without a word costs: a picture that was drawn, or searches that a vendor made, in whichever turn, and whether or not it was finished. */
let upstream: FakeUpstream
let gateway: TestGateway

const drawn = [
  chatEvents.role(),
  {
    ...chatEvents.role(),
    choices: [
      { index: 0, delta: { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] }, finish_reason: null },
    ],
  },
]
const called = (name: string, args: object) =>
  stream([
    chatEvents.role(),
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name, arguments: JSON.stringify(args) } }] } }] },
    chatEvents.finish(),
    chatEvents.usage(),
    chatEvents.done(),
  ])
const PICTURE_USD = (1_290 * 30) / 1e6

beforeEach(async () => {
  upstream = await startFakeUpstream(stream([]))
  const provider = { base_url: upstream.url, api_keys: ['key'] }
  const pricing = { input: 1, output: 2, output_image: 30, web_search: 0.01 }
  gateway = await startGateway({
    providers: [
      { slug: 'draws', dialect: 'openai-chat', ...provider, options: { image_output: true } },
      { slug: 'searches', dialect: 'anthropic-messages', ...provider, options: { web_search_tool: 'web_search_20250305' } },
    ],
    models: [
      { slug: 'acme/fox-image', context_length: 200_000, endpoints: [{ provider: 'draws', upstream_model: 'fox-image-1', pricing }] },
      { slug: 'acme/fox-image-too', context_length: 200_000, endpoints: [{ provider: 'draws', upstream_model: 'fox-image-2', pricing }] },
      { slug: 'acme/claude', context_length: 200_000, endpoints: [{ provider: 'searches', upstream_model: 'claude-1', pricing }] },
    ],
    routing: { sticky: false, cooldown: false, retries: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

/** What the key of the call has spent at last, USD. */
async function spentBy(request: object, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { data: { hash: string }; key: string }
  const response = await gateway.respond({ input: 'hi', ...request }, { key: made.key, headers })
  await response.text()
  const { data } = (await (await gateway.api('GET', `/api/v1/keys/${made.data.hash}`)).json()) as { data: { usage: number } }
  return data.usage
}

const finished = stream([...drawn, chatEvents.finish(), chatEvents.done()])
it.each([
  ['the first turn of a loop of tools', [finished], 'datetime'],
  ['a later turn that breaks off', [called('datetime', {}), stream(drawn, { then: 'reset' })], 'datetime'],
  ['a later turn of it', [called('datetime', {}), finished], 'datetime'],
  [
    'what a tool asks a model',
    [
      called('advisor', { prompt: 'Draw.' }),
      finished,
      stream([chatEvents.text('Done.'), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]),
    ],
    'advisor',
  ],
])(verifies('P32', 'a picture that nobody counted is paid for in %s'), async (_what, replies, tool) => {
  upstream.script(...replies)
  const usd = await spentBy({ model: 'acme/fox-image', stream: true, modalities: ['image', 'text'], tools: [{ type: `gateway:${tool}` }] })
  expect(usd).toBeGreaterThan(PICTURE_USD)
  expect(usd).toBeLessThan(2 * PICTURE_USD)
})

it(verifies('P32', 'a picture that nobody counted is paid for where it ends an answer that another endpoint began'), async () => {
  upstream.script(stream([chatEvents.role(), chatEvents.text('Here is')], { then: 'reset' }), finished)
  const models = ['acme/fox-image', 'acme/fox-image-too']
  const usd = await spentBy({ models, stream: true, modalities: ['image', 'text'] }, { 'x-gateway-stream-failure': 'continue' })
  expect(upstream.requests).toHaveLength(2)
  expect(usd).toBeGreaterThan(PICTURE_USD)
  expect(usd).toBeLessThan(2 * PICTURE_USD)
})

it(verifies('P32', 'pictures of earlier answers are paid for as a part of the prompt also beside one that failed'), async () => {
  const picture = (result: string) => ({ type: 'image_generation_call', id: 'ig_1', status: result === '' ? 'failed' : 'completed', result })
  const ask = { type: 'message', role: 'user', content: 'And now?' }
  const spent = (input: readonly object[]): Promise<number> => {
    upstream.script(stream([chatEvents.role(), chatEvents.text('Nice.'), chatEvents.finish(), chatEvents.done()]))
    return spentBy({ model: 'acme/fox-image', input: [...input, ask] })
  }
  const drew = Array.from({ length: 10 }, () => picture('iVBORw0KGgo='))
  const usd = await spent(drew)
  expect(JSON.stringify(upstream.requests.at(-1)!.body).match(/iVBORw0KGgo=/g)).toHaveLength(10)
  expect(usd).toBeGreaterThan((10 * 600) / 1e6)
  expect(await spent([picture(''), ...drew])).toBeGreaterThanOrEqual(usd)
})

const start = { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 1_000, output_tokens: 1 } } }
const claudeCalls = stream([
  start,
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'datetime', input: {} } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
])
const searched = [
  start,
  { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] } },
  { type: 'content_block_stop', index: 1 },
]
const searching = { model: 'acme/claude', tools: [{ type: 'gateway:datetime' }, { type: 'web_search' }] }

it(verifies('P32', 'searches of a vendor are paid for in a later turn that breaks off before its first word'), async () => {
  upstream.script(claudeCalls, stream(searched, { then: 'reset' }))
  const usd = await spentBy({ ...searching, stream: true })
  expect(usd).toBeGreaterThan(0.012)
  expect(usd).toBeLessThan(0.0121)
})

it(verifies('P32', 'searches of a vendor are paid for by a caller of a whole answer who leaves in a later turn before its first word'), async () => {
  upstream.script(claudeCalls, stream(searched, { then: 'hang' }))
  const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { data: { hash: string }; key: string }
  const leaves = new AbortController()
  const answer = gateway.respond({ ...searching, input: 'hi' }, { key: made.key, signal: leaves.signal })
  await expect.poll(() => upstream.requests.length).toBe(2)
  setTimeout(() => leaves.abort(), 100)
  await expect(answer).rejects.toThrow()
  const spent = async () => ((await (await gateway.api('GET', `/api/v1/keys/${made.data.hash}`)).json()) as { data: { usage: number } }).data.usage
  await expect.poll(spent).toBeGreaterThan(0.012)
  expect(await spent()).toBeLessThan(0.0121)
})

it(verifies('P32', 'a later turn that has only thought in secret is paid for by a caller who leaves'), async () => {
  const thought = [
    start,
    { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'c2VjcmV0' } },
    { type: 'content_block_stop', index: 0 },
  ]
  upstream.script(claudeCalls, stream(thought, { then: 'hang' }))
  const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { data: { hash: string }; key: string }
  const leaves = new AbortController()
  const answer = await gateway.respond({ ...searching, input: 'hi', stream: true }, { key: made.key, signal: leaves.signal })
  await expect.poll(() => upstream.requests.length).toBe(2)
  setTimeout(() => leaves.abort(), 100)
  await expect(answer.text()).rejects.toThrow()
  const spent = async () => ((await (await gateway.api('GET', `/api/v1/keys/${made.data.hash}`)).json()) as { data: { usage: number } }).data.usage
  await expect.poll(spent).toBeGreaterThan(0.002)
  expect(await spent()).toBeLessThan(0.0021)
})

it(verifies('P32', 'a picture is paid for by a caller of a whole answer who leaves before its end'), async () => {
  upstream.script(stream(drawn, { then: 'hang' }))
  const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { data: { hash: string }; key: string }
  const leaves = new AbortController()
  const answer = gateway.respond({ model: 'acme/fox-image', input: 'hi', modalities: ['image', 'text'] }, { key: made.key, signal: leaves.signal })
  await expect.poll(() => upstream.requests.length).toBe(1)
  setTimeout(() => leaves.abort(), 100)
  await expect(answer).rejects.toThrow()
  const spent = async () => ((await (await gateway.api('GET', `/api/v1/keys/${made.data.hash}`)).json()) as { data: { usage: number } }).data.usage
  await expect.poll(spent).toBeGreaterThan(PICTURE_USD)
  expect(await spent()).toBeLessThan(2 * PICTURE_USD)
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Writing to a cache costs more than only reading: for requests with cache breakpoints, the rest of a budget must cover the writing. */
let upstream: FakeUpstream
let gateway: TestGateway

const PRICES = { input: 1, output: 2, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2 }
/** About 4,000 tokens of prompt, estimated at a third more: 0.0054 USD to read, 0.0108 USD to cache for an hour. */
const PROMPT = 'word '.repeat(3_200)

/** An answer whose prompt was written into the cache for an hour. */
const written = stream([
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 0, cache_creation_input_tokens: 4_000, cache_creation: { ephemeral_1h_input_tokens: 4_000 }, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'kept' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
])

const createKey = async (limit: number): Promise<{ readonly hash: string; readonly key: string }> => {
  const { data, key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit })).json()) as {
    data: { hash: string }
    key: string
  }
  return { hash: data.hash, key }
}
const ask = async (key: string, fields: object): Promise<number> => {
  const response = await gateway.respond({ model: 'acme/claude', input: PROMPT, max_output_tokens: 16, ...fields }, { key })
  await response.arrayBuffer()
  return response.status
}
const spentBy = async (hash: string): Promise<number> =>
  ((await (await gateway.api('GET', `/api/v1/keys/${hash}`)).json()) as { data: { usage: number } }).data.usage

const config = (): { readonly [section: string]: unknown } => ({
  providers: [{ slug: 'acme', dialect: 'anthropic-messages', base_url: upstream.url, api_keys: ['key'] }],
  models: [{ slug: 'acme/claude', context_length: 200_000, endpoints: [{ provider: 'acme', upstream_model: 'claude-1', pricing: PRICES }] }],
  routing: { sticky: false, cooldown: false, retries: false },
})
beforeEach(async () => {
  upstream = await startFakeUpstream(written)
  gateway = await startGateway(config())
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

describe('a budget', () => {
  const parts = [{ type: 'input_text', text: PROMPT, prompt_cache_breakpoint: { mode: 'explicit' } }]

  it.each<[string, object, number]>([
    ['of the whole request, for an hour', { cache_control: { type: 'ephemeral', ttl: '1h' } }, 0.0105],
    ['of the whole request', { cache_control: { type: 'ephemeral' } }, 0.0065],
    ['of a part', { input: [{ role: 'user', content: parts }] }, 0.0065],
  ])(verifies('P29', 'is checked against the price of the prompt with its cache breakpoint: %s'), async (_what, fields, limit) => {
    const { key, hash } = await createKey(limit)
    expect(await ask(key, fields)).toBe(402)
    expect(upstream.requests).toHaveLength(0)
    expect(await spentBy(hash)).toBe(0)
    // Without a breakpoint nothing is written.
    expect(await ask(key, {})).toBe(200)
  })

  it('that covers the call is charged for the cache write, at the price of one hour', async () => {
    const { key, hash } = await createKey(0.012)
    expect(await ask(key, { cache_control: { type: 'ephemeral', ttl: '1h' } })).toBe(200)
    expect(await spentBy(hash)).toBeCloseTo((4_000 * 2 + 2) / 1e6, 12)
  })
})

it('conversations are cached where the operator says so, up to their last block', async () => {
  await gateway.close()
  gateway = await startGateway({ ...config(), defaults: { prompt_caching: '5m' } })
  await ask(gateway.key, {})
  await ask(gateway.key, {
    input: [
      { role: 'user', content: PROMPT },
      { role: 'assistant', content: 'Which words?' },
      { role: 'user', content: 'All of them.' },
    ],
  })
  const [alone, conversation] = upstream.requests.map(({ body }) => body)
  expect(JSON.stringify(alone)).not.toContain('cache_control')
  expect(JSON.stringify(conversation).match(/cache_control/g)).toHaveLength(1)
  expect(conversation!['messages']).toMatchObject([
    {},
    {},
    { content: [{ type: 'text', text: 'All of them.', cache_control: { type: 'ephemeral', ttl: '5m' } }] },
  ])
})

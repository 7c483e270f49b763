import { afterEach, beforeEach, expect, it } from 'vitest'
import { startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A vendor's own searches are charged with the answer, 0.01 USD each: what is left of a budget has to hold them before they are made. */
let upstream: FakeUpstream
let gateway: TestGateway

/** An answer that searched five times. */
const searched = stream([
  { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'found' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { input_tokens: 10, output_tokens: 1, server_tool_use: { web_search_requests: 5 } },
  },
  { type: 'message_stop' },
])

const createKey = async (limit: number): Promise<string> =>
  ((await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit })).json()) as { key: string }).key
const ask = async (key: string, tool: object, fields: object = {}): Promise<number> => {
  const body = { model: 'acme/claude', input: 'hi', max_output_tokens: 16, tools: [tool], ...fields }
  const response = await gateway.respond(body, { key })
  await response.arrayBuffer()
  return response.status
}

beforeEach(async () => {
  upstream = await startFakeUpstream(searched)
  gateway = await startGateway({
    providers: [{ slug: 'acme', dialect: 'anthropic-messages', base_url: upstream.url, api_keys: ['key'] }],
    models: [
      {
        slug: 'acme/claude',
        context_length: 200_000,
        endpoints: [{ provider: 'acme', upstream_model: 'claude-1', pricing: { input: 1, output: 2, web_search: 0.01 } }],
      },
    ],
    routing: { sticky: false, cooldown: false, retries: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

it(verifies('P29', 'reserves as many searches of a vendor as a call may make'), async () => {
  const key = await createKey(0.03)
  expect(await ask(key, { type: 'web_search', max_uses: 5 })).toBe(402)
  expect(await ask(key, { type: 'web_search' }, { max_tool_calls: 5 })).toBe(402)
  expect(upstream.requests).toHaveLength(0)
  expect(await ask(key, { type: 'function', name: 'look', parameters: {} }, { max_tool_calls: 5 })).toBe(200)
})

it(verifies('P29', 'reserves one where nothing bounds them'), async () => {
  expect(await ask(await createKey(0.005), { type: 'web_search' })).toBe(402)
  expect(upstream.requests).toHaveLength(0)
  expect(await ask(await createKey(0.02), { type: 'web_search' })).toBe(200)
})

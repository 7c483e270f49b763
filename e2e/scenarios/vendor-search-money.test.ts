import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A vendor's own searches are charged with the answer, 0.01 USD each, so the rest of a budget must cover them in advance. */
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

it(verifies('P29', 'a call reserves as many searches of a vendor as it may make'), async () => {
  const key = await createKey(0.03)
  expect(await ask(key, { type: 'web_search', max_uses: 5 })).toBe(402)
  expect(await ask(key, { type: 'web_search' }, { max_tool_calls: 5 })).toBe(402)
  expect(upstream.requests).toHaveLength(0)
  expect(await ask(key, { type: 'function', name: 'look', parameters: {} }, { max_tool_calls: 5 })).toBe(200)
})

it(verifies('P29', 'a call reserves one search if their number is not limited'), async () => {
  expect(await ask(await createKey(0.005), { type: 'web_search' })).toBe(402)
  expect(upstream.requests).toHaveLength(0)
  expect(await ask(await createKey(0.02), { type: 'web_search' })).toBe(200)
})

describe('a tool of a vendor that is charged separately, at an unknown price', () => {
  const draws = { type: 'image_generation' }
  const drawn = stream([
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
    },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 10, output_tokens: 1 } } },
  ])
  const open = (limits: object): Promise<TestGateway> =>
    startGateway({
      providers: [
        { slug: 'acme', dialect: 'openai-responses', base_url: upstream.url, api_keys: ['key'], options: { paid_tools: ['image_generation'] } },
      ],
      models: [
        { slug: 'acme/claude', context_length: 200_000, endpoints: [{ provider: 'acme', upstream_model: 'one', pricing: { input: 1, output: 2 } }] },
      ],
      limits,
    })
  const asked = async (to: TestGateway, key: string, tools: readonly object[]) => {
    const headers = { 'x-gateway-experimental-metadata': 'enabled' }
    const response = await to.respond({ model: 'acme/claude', input: 'hi', tools }, { key, headers })
    return { status: response.status, answer: (await response.json()) as object }
  }
  beforeEach(() => upstream.script(drawn))

  it(verifies('H8', 'is reported to a caller with a limit, and makes the cost unknown instead of zero'), async () => {
    const other = await open({})
    const { key } = (await (await other.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { key: string }
    const { status, answer } = await asked(other, key, [draws])
    expect(status).toBe(200)
    expect(answer).toMatchObject({ usage: { cost: null }, gateway_metadata: { params: { unknown_price: expect.any(String) as string } } })
    await other.close()
  })

  it(verifies('H8', 'is refused to such a caller if so configured, and nothing else is'), async () => {
    const other = await open({ unknown_price: 'deny' })
    const { key } = (await (await other.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { key: string }
    const refused = await asked(other, key, [draws])
    expect(refused.status).toBe(404)
    expect(refused.answer).toMatchObject({ error: { message: expect.stringContaining('image_generation of acme/claude') as string } })
    expect(upstream.requests).toHaveLength(0)
    expect((await asked(other, key, [{ type: 'function', name: 'look', parameters: {} }])).status).toBe(200)
    expect((await asked(other, other.key, [draws])).status).toBe(200)
    await other.close()
  })
})

describe('a search of a vendor whose price is unknown', () => {
  const open = async (limits: object, pricing: object = { input: 1, output: 2 }) => {
    const other = await startGateway({
      providers: [
        {
          slug: 'acme',
          dialect: 'anthropic-messages',
          base_url: upstream.url,
          api_keys: ['key'],
          options: { web_search_tool: 'web_search_20250305' },
        },
      ],
      models: [{ slug: 'acme/claude', context_length: 200_000, endpoints: [{ provider: 'acme', upstream_model: 'one', pricing }] }],
      limits,
    })
    const { key } = (await (await other.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { key: string }
    const asked = async (tools: readonly object[]) => {
      const headers = { 'x-gateway-experimental-metadata': 'enabled' }
      const response = await other.respond({ model: 'acme/claude', input: 'hi', tools }, { key, headers })
      return { status: response.status, answer: (await response.json()) as object }
    }
    return { other, asked }
  }

  it(verifies('H8', 'makes the cost of the answer unknown instead of that of its tokens'), async () => {
    const { other, asked } = await open({})
    const { status, answer } = await asked([{ type: 'web_search' }])
    expect(status).toBe(200)
    expect(answer).toMatchObject({ usage: { cost: null }, gateway_metadata: { params: { unknown_price: expect.any(String) as string } } })
    await other.close()
  })

  it(verifies('H8', 'is refused to a caller with a limit if so configured, unless it has a price, if only of zero'), async () => {
    const { other, asked } = await open({ unknown_price: 'deny' })
    const refused = await asked([{ type: 'web_search' }])
    expect(refused.status).toBe(404)
    expect(refused.answer).toMatchObject({ error: { message: expect.stringContaining('web_search of acme/claude') as string } })
    expect(upstream.requests).toHaveLength(0)
    await other.close()
    const free = await open({ unknown_price: 'deny' }, { input: 1, output: 2, web_search: 0 })
    const answered = await free.asked([{ type: 'web_search' }])
    expect(answered.answer).toMatchObject({ usage: { cost: 12 / 1e6 } })
    await free.other.close()
  })
})

const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }
it.each([
  ['is left out beside functions, which the model cannot have with it', {}],
  ['is forbidden by the caller', { tool_choice: 'none' }],
])(verifies('H8', 'a search of a vendor at an unknown price keeps nobody away if it %s'), async (_why, fields) => {
  const answer = {
    candidates: [{ content: { parts: [{ text: 'found' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1 },
  }
  upstream.script(stream([answer]))
  const other = await startGateway({
    providers: [{ slug: 'acme', dialect: 'gemini', base_url: upstream.url, api_keys: ['key'] }],
    models: [
      {
        slug: 'acme/g',
        context_length: 200_000,
        endpoints: [{ provider: 'acme', upstream_model: 'gemini-2.5-flash', pricing: { input: 1, output: 2 } }],
      },
    ],
    limits: { unknown_price: 'deny' },
  })
  const { key } = (await (await other.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { key: string }
  const tools = 'tool_choice' in fields ? [{ type: 'web_search' }] : [LOOK, { type: 'web_search' }]
  const response = await other.respond({ model: 'acme/g', input: 'hi', tools, ...fields }, { key })
  expect([response.status, await response.json()]).toMatchObject([200, { usage: { cost: 12 / 1e6 } }])
  expect(JSON.stringify(upstream.requests[0]?.body)).not.toContain('googleSearch')
  await other.close()
})

describe('searches of a vendor in an answer that breaks off', () => {
  const results = (id: string, content: unknown): readonly object[] => [
    { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id, name: 'web_search', input: {} } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 0, content_block: { type: 'web_search_tool_result', tool_use_id: id, content } },
    { type: 'content_block_stop', index: 0 },
  ]
  const done = (index: number, action: object): object => ({
    type: 'response.output_item.done',
    output_index: index,
    item: { type: 'web_search_call', id: `ws_${index}`, status: 'completed', action },
  })
  const broken: readonly [string, readonly object[]][] = [
    [
      'anthropic-messages',
      [
        { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
        ...results('srvtoolu_1', []),
        ...results('srvtoolu_2', { type: 'web_search_tool_result_error', error_code: 'unavailable' }),
        ...results('srvtoolu_3', []),
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'found' } },
      ],
    ],
    [
      'openai-responses',
      [
        { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
        done(0, { type: 'search', query: 'a' }),
        done(1, { type: 'open_page', url: 'https://example.com' }),
        done(2, { type: 'search', query: 'b' }),
        { type: 'response.output_text.delta', output_index: 3, content_index: 0, delta: 'found' },
      ],
    ],
  ]

  it.each(broken)(verifies('P32', 'are charged, and counted in its record: %s'), async (dialect, frames) => {
    upstream.script(stream(frames, { then: 'reset' }))
    const options = dialect === 'anthropic-messages' ? { web_search_tool: 'web_search_20250305' } : {}
    const other = await startGateway({
      providers: [{ slug: 'acme', dialect, base_url: upstream.url, api_keys: ['key'], options }],
      models: [
        {
          slug: 'acme/one',
          context_length: 200_000,
          endpoints: [{ provider: 'acme', upstream_model: 'one', pricing: { input: 1, output: 2, web_search: 0.01 } }],
        },
      ],
      routing: { sticky: false, cooldown: false, retries: false },
    })
    const made = (await (await other.api('POST', '/api/v1/keys', { name: 'limited', limit: 1 })).json()) as { data: { hash: string }; key: string }
    const response = await other.respond({ model: 'acme/one', input: 'hi', stream: true, tools: [{ type: 'web_search' }] }, { key: made.key })
    const text = await response.text()
    expect(text).toContain('response.failed')
    const [, failed = '{}'] = /^data: (\{"type":"response.failed".*)$/m.exec(text) ?? []
    const { response: answer } = JSON.parse(failed) as { response: { usage: { cost: number } } }
    expect(answer.usage).toMatchObject({ server_tool_use_details: { web_search_requests: 2 } })
    expect(answer.usage.cost).toBeGreaterThan(0.02)
    expect(answer.usage.cost).toBeLessThan(0.021)
    const { data } = (await (await other.api('GET', `/api/v1/keys/${made.data.hash}`)).json()) as { data: { usage: number } }
    expect(data.usage).toBeCloseTo(answer.usage.cost, 9)
    await other.close()
  })
})

describe('searches of a server that cites pages and counts no searches', () => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://example.com', title: 'A', start_index: 0, end_index: 5 } }]
  const cited = [chatEvents.role(), chatEvents.text('found'), { choices: [{ index: 0, delta: { annotations } }] }]
  const searched = { citations: ['https://example.com', 'https://example.org'], choices: [{ index: 0, delta: { content: 'found' } }] }
  const counted = (more: object = {}) => chatEvents.usage({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, ...more })
  const ends = [chatEvents.finish(), counted(), chatEvents.done()]

  it.each([
    ['unknown instead of that of its tokens, where searches have no price', { input: 1, output: 2 }, [...cited, ...ends], null],
    ['that of one search more', { input: 1, output: 2, web_search: 0.025 }, [...cited, ...ends], 0.025_012],
    ['that of its tokens, where searches cost nothing', { input: 1, output: 2, web_search: 0 }, [...cited, ...ends], 0.000_012],
    ['the same where the pages are named beside the answer', { input: 1, output: 2, web_search: 0.025 }, [searched, ...ends], 0.025_012],
    ['that of the request, where requests are charged', { input: 1, output: 2, request: 0.005 }, [...cited, ...ends], 0.005_012],
    ['what the server reports', { input: 1, output: 2 }, [...cited, chatEvents.finish(), counted({ cost: 0.5 }), chatEvents.done()], 0.5],
    ['that of its tokens where nothing is cited', { input: 1, output: 2 }, [chatEvents.role(), chatEvents.text('found'), ...ends], 0.000_012],
  ])(verifies('P32', 'make the cost of the answer %s'), async (_what, pricing, events, cost) => {
    upstream.script(stream(events))
    const other = await startGateway({
      providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['key'] }],
      models: [{ slug: 'acme/finder', context_length: 200_000, endpoints: [{ provider: 'acme', upstream_model: 'one', pricing }] }],
    })
    const answer = (await (await other.respond({ model: 'acme/finder', input: 'hi' })).json()) as object
    expect(answer).toMatchObject({ usage: { cost } })
    await other.close()
  })
})

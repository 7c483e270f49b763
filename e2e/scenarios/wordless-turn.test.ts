import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A model may have nothing to add to the results of its caller's tools. Vendors then send an empty answer that ends successfully, and so does the gateway. */
let first: FakeUpstream
let second: FakeUpstream
let gateway: TestGateway

const named = (event: { readonly type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const SILENT_MESSAGE = [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 40, output_tokens: 1 } },
  },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
].map(named)
const SILENT_CHAT = [chatEvents.role(), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]

beforeAll(async () => {
  first = await startFakeUpstream()
  second = await startFakeUpstream()
  const endpoint = (provider: string, input: number): object => ({ provider, upstream_model: 'm', pricing: { input, output: input } })
  gateway = await startGateway({
    providers: [
      { slug: 'speaks', name: 'Speaks', dialect: 'anthropic-messages', base_url: first.url, api_keys: ['key-of-a-test'] },
      { slug: 'chats', name: 'Chats', dialect: 'openai-chat', base_url: first.url, api_keys: ['key-of-a-test'] },
      { slug: 'spare', name: 'Spare', dialect: 'openai-chat', base_url: second.url, api_keys: ['key-of-a-test'] },
    ],
    models: [
      { slug: 'acme/speaks', context_length: 100_000, endpoints: [endpoint('speaks', 1)] },
      { slug: 'acme/chats', context_length: 100_000, endpoints: [endpoint('chats', 1)] },
      { slug: 'acme/both', context_length: 100_000, endpoints: [endpoint('chats', 1), endpoint('spare', 100)] },
    ],
    routing: { sticky: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await first.close()
  await second.close()
})
beforeEach(() => second.script(stream(chatText('from the spare one'))))

const post = async (path: string, body: object): Promise<Response> => gateway.api('POST', path, body, gateway.key)

const tools = [{ name: 'ls', input_schema: { type: 'object' } }]
const calls = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} }] }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }
const asked = { role: 'user', content: 'Look.' }
const messages = [asked, calls, { role: 'user', content: [result] }]

describe('an empty answer to tool results', () => {
  it.each([
    ['acme/speaks', SILENT_MESSAGE, { input_tokens: 40, output_tokens: 3 }],
    ['acme/chats', SILENT_CHAT, { input_tokens: 8, output_tokens: 7 }],
  ])('is accepted as the answer, without a retry, with its usage: %s', async (model, frames, usage) => {
    first.script(stream(frames))
    const before = first.requests.length
    const whole = (await (await post('/api/v1/messages', { model, max_tokens: 100, tools, messages })).json()) as object
    expect(whole).toMatchObject({ content: [], stop_reason: 'end_turn', usage })
    const told = await (await post('/api/v1/messages', { model, max_tokens: 100, tools, messages, stream: true })).text()
    const events = [...told.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as { readonly type: string })
    expect(events.map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop'])
    expect(events[1]).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage })
    expect(first.requests.length - before).toBe(2)
  })

  it('is accepted in every format of callers', async () => {
    first.script(stream(SILENT_MESSAGE))
    const chat = await post('/api/v1/chat/completions', {
      model: 'acme/speaks',
      messages: [
        asked,
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'ls', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
      ],
    })
    expect(await chat.json()).toMatchObject({ choices: [{ message: { role: 'assistant' }, finish_reason: 'stop' }], usage: { prompt_tokens: 40 } })
    const input = [
      { role: 'user', content: 'Look.' },
      { type: 'function_call', call_id: 'call_1', name: 'ls', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    ]
    const responses = await gateway.respond({ model: 'acme/speaks', input })
    expect(await responses.json()).toMatchObject({ status: 'completed', output: [], output_text: '', usage: { input_tokens: 40, output_tokens: 3 } })
  })

  it('is accepted also if a message of the user follows the results', async () => {
    first.script(stream(SILENT_MESSAGE))
    const spoken = [asked, calls, { role: 'user', content: [result, { type: 'text', text: 'Tool loaded.' }] }]
    const answer = await post('/api/v1/messages', { model: 'acme/speaks', max_tokens: 100, tools, messages: spoken })
    expect(await answer.json()).toMatchObject({ content: [], stop_reason: 'end_turn' })
  })

  it('is replaced by the answer of another endpoint with content', async () => {
    first.script(stream(SILENT_CHAT))
    const answer = await post('/api/v1/messages', { model: 'acme/both', max_tokens: 100, tools, messages })
    expect(await answer.json()).toMatchObject({ content: [{ type: 'text', text: 'from the spare one' }] })
    second.script(stream(SILENT_CHAT))
    const silent = await post('/api/v1/messages', { model: 'acme/both', max_tokens: 100, tools, messages })
    expect(await silent.json()).toMatchObject({ content: [], stop_reason: 'end_turn' })
  })

  it('does not count as a failure of its endpoint, and is recorded as an answer', async () => {
    first.script(stream(SILENT_MESSAGE))
    for (let times = 0; times < 8; times++) {
      const answer = await post('/api/v1/messages', { model: 'acme/speaks', max_tokens: 100, tools, messages })
      expect(answer.status).toBe(200)
      await answer.arrayBuffer()
    }
    const { id } = (await (await post('/api/v1/messages', { model: 'acme/speaks', max_tokens: 100, tools, messages })).json()) as { id: string }
    await expect
      .poll(async () => (await gateway.api('GET', `/api/v1/generation?id=${id}`, undefined, gateway.key)).json(), { timeout: 10_000 })
      .toMatchObject({
        data: { provider_name: 'Speaks', finish_reason: 'stop', native_finish_reason: 'end_turn', tokens_prompt: 40, total_cost: 0.000043 },
      })
  })

  it('is a failure if the last message is one of the user', async () => {
    first.script(stream(SILENT_MESSAGE))
    const bare = await post('/api/v1/messages', { model: 'acme/speaks', max_tokens: 100, messages: [asked] })
    expect(bare.status).toBe(502)
    const after = [...messages, { role: 'assistant', content: 'There is a.txt.' }, { role: 'user', content: 'And?' }]
    expect((await post('/api/v1/messages', { model: 'acme/speaks', max_tokens: 100, tools, messages: after })).status).toBe(502)
  })
})

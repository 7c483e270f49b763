import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'

/**
 * Searches that the vendor of Messages has called but not run yet: it paused, or waits for tools of the caller that were called together with them. The
 * upstream refuses what the vendor refuses: https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools
 */
type Block = { readonly type: string; readonly [field: string]: unknown }
interface Message {
  readonly role: string
  readonly content: readonly Block[]
}

let upstream: FakeUpstream
let gateway: TestGateway

const thought = { type: 'thinking', thinking: 'I search.', signature: 'SIG' }
const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'moon' } }
const page = { type: 'web_search_result', url: 'https://moon.example', title: 'Moon', encrypted_content: 'E', page_age: null }
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [page] }
const called = { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }
const said = { type: 'text', text: 'Far.' }

/** Why the vendor would refuse these messages. */
function refusalOf(messages: readonly Message[]): string | undefined {
  const results = new Set(messages.flatMap(({ content }) => content.map(({ tool_use_id: id }) => id)))
  for (const [at, { role, content }] of messages.entries()) {
    const mayWait = messages.slice(at + 1).every((later) => later.role === 'user' && later.content.every(({ type }) => type === 'tool_result'))
    for (const { type, id } of content)
      if (role === 'assistant' && type === 'server_tool_use' && !results.has(id) && !mayWait)
        return `messages.${at}: \`web_search\` tool use with id \`${String(id)}\` was found without a corresponding \`web_search_tool_result\` block`
  }
  const last = messages.at(-1)!
  if (last.role === 'assistant' && !/_tool_(?:use|result)$/.test(last.content.at(-1)!.type))
    return 'This model does not support assistant message prefill. The conversation must end with a user message.'
  return undefined
}

const messagesOf = ({ body }: { readonly body: object }): readonly Message[] => (body as { readonly messages: readonly Message[] }).messages

const says =
  (content: readonly Block[], reason: string): Reply =>
  (request, response) => {
    const refusal = refusalOf(messagesOf(request))
    if (refusal !== undefined) {
      const error = { type: 'error', error: { type: 'invalid_request_error', message: refusal } }
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(error))
    }
    const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 1 } }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: null }
    const events = [
      { type: 'message_start', message: { ...message, content: [], usage } },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  }

beforeAll(async () => {
  upstream = await startFakeUpstream()
  const options = { web_search_tool: 'web_search_20250305', native_tools: ['^code_execution_\\d{8}$'], prefill: false, thinking: 'adaptive' }
  gateway = await startGateway({
    providers: [{ slug: 'acme', dialect: 'anthropic-messages', base_url: upstream.url, api_keys: ['k'], options }],
    models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }],
    routing: { sticky: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
let before = 0
beforeEach(() => {
  before = upstream.requests.length
})
const sent = (): readonly (readonly Message[])[] => upstream.requests.slice(before).map(messagesOf)

const USER = { role: 'user', content: [{ type: 'text', text: 'hi' }] }
const PAUSED = { role: 'assistant', content: [thought, use] }

describe('a turn the vendor has paused', () => {
  it.each([
    [true, { type: 'web_search' }],
    [false, { type: 'web_search' }],
    [true, { type: 'gateway:web_search' }],
    [true, { type: 'code_execution_20250825', name: 'code_execution' }, { type: 'web_search' }],
  ])('is continued as it was written (streamed: %s, %j)', async (streamed, ...tools) => {
    upstream.script(says([thought, use], 'pause_turn'), says([found, said], 'end_turn'))
    const answer = await askGateway(gateway, { tools, reasoning: { effort: 'high' } }, streamed)
    expect(answer).toMatchObject({ status: 'completed', usage: { input_tokens: 20, output_tokens: 10 } })
    expect(answer.output.at(-1)).toMatchObject({ type: 'message', content: [{ text: 'Far.' }] })
    expect(sent()).toEqual([[USER], [USER, PAUSED]])
  })

  it('is history like any other: the search goes back with what it found', async () => {
    upstream.script(says([thought, use], 'pause_turn'), says([found, said], 'end_turn'))
    const tools = [{ type: 'web_search' }]
    const { output } = await askGateway(gateway, { tools, reasoning: { effort: 'high' } }, true)
    upstream.script(says([said], 'end_turn'))
    await askGateway(gateway, { tools, input: [{ role: 'user', content: 'hi' }, ...output, { role: 'user', content: 'hi' }] }, true)
    expect(sent().at(-1)).toEqual([USER, { role: 'assistant', content: [thought, use, found, said] }, USER])
  })

  it('is one message in the format of Messages', async () => {
    upstream.script(says([thought, use], 'pause_turn'), says([found, said], 'end_turn'))
    const body = { model: 'acme/small', max_tokens: 99, messages: [USER], tools: [{ type: 'web_search_20250305', name: 'web_search' }] }
    const response = await fetch(`${gateway.url}/api/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': gateway.key },
      body: JSON.stringify(body),
    })
    expect(await response.json()).toMatchObject({ stop_reason: 'end_turn', usage: { server_tool_use: { web_search_requests: 2 } } })
    expect(sent()[1]).toEqual([USER, PAUSED])
  })
})

describe('a search called beside a tool of the caller', () => {
  const answers = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'noon' }] }]
  const waiting = { role: 'assistant', content: [use, called] }

  it("is run after the caller's tool, and stays in its place", async () => {
    const tools = [{ type: 'web_search' }, { type: 'function', name: 'clock', parameters: { type: 'object', properties: {} } }]
    upstream.script(says([use, called], 'tool_use'))
    const first = await askGateway(gateway, { tools }, true)
    expect(first.output).toMatchObject([
      { type: 'web_search_call', status: 'completed' },
      { type: 'function_call', name: 'clock' },
    ])
    const { call_id: callId } = first.output[1]!
    const history = [{ role: 'user', content: 'hi' }, ...first.output, { type: 'function_call_output', call_id: callId, output: 'noon' }]
    upstream.script(says([found, said], 'end_turn'))
    const second = await askGateway(gateway, { tools, input: history }, true)
    expect(sent().at(-1)).toEqual([USER, waiting, ...answers])
    await askGateway(gateway, { tools, input: [...history, ...second.output, { role: 'user', content: 'hi' }] }, true)
    expect(sent().at(-1)).toEqual([USER, waiting, ...answers, { role: 'assistant', content: [found, said] }, USER])
  })

  it('behaves the same in the format of Messages', async () => {
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { name: 'clock', input_schema: { type: 'object', properties: {} } },
    ]
    const ask = async (messages: readonly object[]): Promise<{ readonly content: readonly Block[]; readonly stop_reason: string }> => {
      const response = await fetch(`${gateway.url}/api/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': gateway.key },
        body: JSON.stringify({ model: 'acme/small', max_tokens: 99, messages, tools }),
      })
      return (await response.json()) as never
    }
    upstream.script(says([use, called], 'tool_use'))
    const first = await ask([USER])
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'server_tool_use' }, { type: 'redacted_thinking' }, { type: 'tool_use' }],
    })
    const { id } = first.content.at(-1)!
    upstream.script(says([found, said], 'end_turn'))
    const history = [
      USER,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'noon' }] },
    ]
    const second = await ask(history)
    expect(second.stop_reason).toBe('end_turn')
    expect(sent().at(-1)).toEqual([USER, waiting, ...answers])
    await ask([...history, { role: 'assistant', content: second.content }, USER])
    expect(sent().at(-1)).toEqual([USER, waiting, ...answers, { role: 'assistant', content: [found, said] }, USER])
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway, calls, says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** A tool search that the caller runs, over real sockets, in front of an upstream of chat completions, which does not know such searches. */
let upstream: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url]))
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

type Json = Record<string, unknown>
const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools of servers', parameters }
const now = { type: 'function', name: 'now', parameters: {} }
const find = { type: 'function', name: 'find', description: 'Finds pages', parameters, defer_loading: true }
const docs = { type: 'namespace', name: 'mcp__docs', description: 'Documents', tools: [find] }
const tools = [search, now, { ...find, name: 'later' }]
const question = { type: 'message', role: 'user', content: 'Where is it written?' }
const offered = (n: number): unknown[] => (upstream.requests[n]!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)

/** The arguments arrive in pieces. */
const searches = stream([
  chatEvents.role(),
  chatEvents.call(0, 'call_1', 'tool_search', ''),
  chatEvents.args(0, '{"query":'),
  chatEvents.args(0, '"docs"}'),
  chatEvents.finish('tool_calls'),
  chatEvents.usage(),
  chatEvents.done(),
])

describe.each([true, false])(verifies('S2-clients', 'P23', 'a search of tools by the caller (stream: %s)'), (streamed) => {
  const ask = (body: Json) => askGateway(gateway, { input: [question], tools, ...body }, streamed)

  it('is offered as a function, comes back as a search, and what it finds can be called', async () => {
    upstream.script(searches, calls(['mcp__docs__find', { query: 'x' }]), says('There.'))
    const first = await ask({})
    expect(offered(0)).toEqual(['tool_search', 'now'])
    expect(upstream.requests[0]!.body['tools']).toMatchObject([{ function: { description: 'Finds tools of servers', parameters } }, {}])
    expect(first.output).toEqual([
      {
        type: 'tool_search_call',
        id: expect.stringMatching(/^tsc_/),
        call_id: 'call_1',
        execution: 'client',
        arguments: { query: 'docs' },
        status: 'completed',
      },
    ])

    const found = { type: 'tool_search_output', call_id: 'call_1', execution: 'client', status: 'completed', tools: [docs] }
    const history = [question, ...first.output, found]
    const second = await ask({ input: history })
    expect(offered(1)).toEqual(['tool_search', 'now', 'mcp__docs__find'])
    expect((upstream.requests[1]!.body['messages'] as object[]).slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'tool_search', arguments: '{"query":"docs"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('mcp__docs__find') },
    ])
    const call = second.output[0]!
    expect(second.output).toMatchObject([{ type: 'function_call', name: 'find', namespace: 'mcp__docs', arguments: '{"query":"x"}' }])

    const third = await ask({ input: [...history, call, { type: 'function_call_output', call_id: call['call_id'], output: 'Page 3' }] })
    expect(third.output).toMatchObject([{ type: 'message', content: [{ text: 'There.' }] }])
    expect(offered(2)).toEqual(offered(1))
  })

  it('goes to the caller also when a tool of the gateway is called beside it', async () => {
    upstream.script(calls(['datetime', {}], ['tool_search', { query: 'docs' }]), says('never asked'))
    const answer = await ask({ tools: [...tools, { type: 'gateway:datetime' }] })
    expect(answer.output.map(({ type }) => type).toSorted()).toEqual(['gateway:datetime', 'tool_search_call'])
    expect(upstream.requests).toHaveLength(1)
  })

  it("is separate from the gateway's tool search, and both can be offered", async () => {
    upstream.script(calls(['gateway_tool_search', { query: 'docs' }]))
    const answer = await ask({ tools: [...tools, { type: 'gateway:tool_search' }] })
    expect(offered(0).toSorted()).toEqual(['gateway_tool_search', 'now', 'tool_search'])
    expect(answer.output).toMatchObject([{ type: 'tool_search_call', execution: 'client', arguments: { query: 'docs' } }])
  })
})

it('streams the search as an item that is added and done, without events of its own', async () => {
  upstream.script(searches)
  const { events } = checkWire(await (await gateway.respond({ model: 'acme/small', input: [question], tools, stream: true })).text())
  expect(events.map(({ type }) => type.slice('response.'.length))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'output_item.done',
    'completed',
  ])
  expect(events[2]).toMatchObject({ item: { type: 'tool_search_call', call_id: 'call_1', arguments: {}, status: 'in_progress' } })
})

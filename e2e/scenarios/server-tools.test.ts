import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** The server-side tool loop over real sockets: a scripted model that calls tools, a gateway that runs them. */
let upstream: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false } }))
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

type Json = Record<string, unknown>

/** One turn in which the model calls these functions. */
const calls = (...made: readonly (readonly [name: string, args: unknown])[]): Reply =>
  stream([
    chatEvents.role(),
    ...made.map(([name, args], n) => chatEvents.call(n, `call_${name}_${n}`, name, typeof args === 'string' ? args : JSON.stringify(args))),
    chatEvents.finish('tool_calls'),
    chatEvents.usage(),
    chatEvents.done(),
  ])
const says = (...pieces: string[]): Reply => stream(chatText(...pieces))

async function ask(body: Json, streamed: boolean): Promise<Json> {
  const response = await gateway.respond({ model: 'acme/small', input: 'What time is it?', ...body, stream: streamed }, { headers: { 'x-gateway-experimental-metadata': 'enabled' } })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (streamed ? checkWire(text).terminal['response'] : JSON.parse(text)) as Json
}

const messages = (n: number): Json[] => upstream.requests[n]!.body['messages'] as Json[]

describe.each([true, false])('the loop (stream: %s)', (streamed) => {
  it('runs a tool between two turns and answers as one response', async () => {
    upstream.script(calls(['datetime', { timezone: 'Asia/Tokyo' }]), says('It is late in Tokyo.'))
    const answer = await ask({ tools: [{ type: 'gateway:datetime' }] }, streamed)
    expect(answer).toMatchObject({
      status: 'completed',
      output: [
        { type: 'gateway:datetime', status: 'completed', timezone: 'Asia/Tokyo', datetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+09:00$/) },
        { type: 'message', content: [{ text: 'It is late in Tokyo.' }] },
      ],
      usage: { input_tokens: 22, output_tokens: 14, server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 1 } },
    })
    const first = upstream.requests[0]!.body['tools'] as { function: { name: string; parameters: Json } }[]
    expect(first.map((tool) => tool.function.name)).toEqual(['datetime'])
    expect(messages(1).slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_datetime_0', function: { name: 'datetime' } }] },
      { role: 'tool', tool_call_id: 'call_datetime_0', content: expect.stringContaining('"timezone":"Asia/Tokyo"') },
    ])
  })
})

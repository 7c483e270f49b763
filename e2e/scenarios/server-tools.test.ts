import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, reset, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway, calls, callsAfter, says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** The server-side tool loop over real sockets: a scripted model that calls tools, a gateway that runs them. */
let upstream: FakeUpstream
let backup: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  upstream = await startFakeUpstream()
  backup = await startFakeUpstream(says('from the backup'))
  gateway = await startGateway(chatConfig([upstream.url, backup.url], { routing: { sticky: false } }))
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
  await backup.close()
})

type Json = Record<string, unknown>
const datetime = { type: 'gateway:datetime' }
const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }
const ask = (body: Json, streamed = false) => askGateway(gateway, { provider: { order: ['acme', 'backup1'] }, ...body }, streamed)
const messages = (n: number, of = upstream): Json[] => of.requests[n]!.body['messages'] as Json[]
const types = (answer: { readonly output: readonly Json[] }) => answer.output.map(({ type }) => type)

describe.each([true, false])('the loop (stream: %s)', (streamed) => {
  it('runs a tool between two turns and answers as one response', async () => {
    upstream.script(calls(['datetime', { timezone: 'Asia/Tokyo' }]), says('It is late in Tokyo.'))
    const answer = await ask({ tools: [datetime] }, streamed)
    expect(answer).toMatchObject({
      status: 'completed',
      output: [
        { type: 'gateway:datetime', status: 'completed', timezone: 'Asia/Tokyo', datetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+09:00$/) },
        { type: 'message', content: [{ text: 'It is late in Tokyo.' }] },
      ],
      usage: {
        input_tokens: 22,
        output_tokens: 14,
        input_tokens_details: { cached_tokens: 6 },
        server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 1 },
      },
      tools: [],
    })
    const offered = upstream.requests[0]!.body['tools'] as { function: { name: string } }[]
    expect(offered.map((tool) => tool.function.name)).toEqual(['datetime'])
    expect(messages(1).slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_datetime_0', function: { name: 'datetime', arguments: '{"timezone":"Asia/Tokyo"}' } }] },
      { role: 'tool', tool_call_id: 'call_datetime_0', content: expect.stringContaining('"timezone":"Asia/Tokyo"') },
    ])
  })

  it('keeps text before a call, and runs parallel calls of one turn', async () => {
    upstream.script(callsAfter('Let me look.', ['datetime', { timezone: 'UTC' }], ['datetime', { timezone: 'Europe/Zurich' }]), says('Done.'))
    const answer = await ask({ tools: [datetime] }, streamed)
    expect(types(answer)).toEqual(['message', 'gateway:datetime', 'gateway:datetime', 'message'])
    expect(messages(1).slice(-3)).toMatchObject([
      { role: 'assistant', content: 'Let me look.' },
      { role: 'tool', tool_call_id: 'call_datetime_0' },
      { role: 'tool', tool_call_id: 'call_datetime_1' },
    ])
  })

  it('runs gateway tools in the input, and leaves those of the caller there', async () => {
    upstream.script(calls(['datetime', {}]), calls(['weather', { city: 'Bern' }]))
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'openrouter:datetime' }, weather] },
      { role: 'user', content: 'hi' },
    ]
    expect(types(await ask({ input }, streamed))).toEqual(['openrouter:datetime', 'function_call'])
    const offered = upstream.requests[0]!.body['tools'] as { function: { name: string } }[]
    expect(offered.map((tool) => tool.function.name).toSorted()).toEqual(['datetime', 'weather'])
  })

  it('refuses an invalid tool with its path', async () => {
    const refused = async (body: Json): Promise<unknown> => {
      const response = await gateway.respond({ model: 'acme/small', stream: streamed, ...body })
      expect(response.status).toBe(400)
      const { error } = (await response.json()) as { error: { message: string; metadata: { path: string } } }
      expect(error.message).toContain(error.metadata.path)
      return error.metadata.path
    }
    const added = { type: 'additional_tools', role: 'developer', tools: [weather, { type: 'gateway:sing' }] }
    const input = [{ role: 'user', content: 'hi' }, added]
    expect(await refused({ input: 'hi', tools: [{ type: 'gateway:sing' }] })).toBe('tools[0].type')
    expect(await refused({ input, tools: [datetime] })).toBe('input[1].tools[1].type')
  })

  it('answers with the tool type that the caller used', async () => {
    upstream.script(calls(['datetime', {}]), says('Now.'))
    expect(types(await ask({ tools: [{ type: 'openrouter:datetime', parameters: { timezone: 'Asia/Tokyo' } }] }, streamed))).toEqual([
      'openrouter:datetime',
      'message',
    ])
  })

  it("returns a call of the caller's function together with what the gateway ran", async () => {
    upstream.script(calls(['datetime', {}], ['weather', { city: 'Bern' }]))
    const answer = await ask({ tools: [datetime, weather] }, streamed)
    expect(answer['status']).toBe('completed')
    expect(answer.output).toHaveLength(2)
    expect(answer.output).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'gateway:datetime', status: 'completed' }),
        expect.objectContaining({ type: 'function_call', name: 'weather', arguments: '{"city":"Bern"}' }),
      ]),
    )
    expect(upstream.requests).toHaveLength(1)
  })

  it('sends the reasoning of a turn back to the model in the next one', async () => {
    upstream.script(
      stream([
        chatEvents.role(),
        chatEvents.reasoning('I need the time.'),
        chatEvents.call(0, 'c1', 'datetime', '{}'),
        chatEvents.finish('tool_calls'),
        chatEvents.usage(),
        chatEvents.done(),
      ]),
      says('Now.'),
    )
    expect(types(await ask({ tools: [datetime] }, streamed))).toEqual(['reasoning', 'gateway:datetime', 'message'])
  })
})

describe('the tools that the model is offered', () => {
  it("leave the caller's function its name when a tool has the same", async () => {
    upstream.script(calls(['gateway_datetime', {}]), says('ok'))
    const own = { type: 'function', name: 'datetime', parameters: { type: 'object' } }
    expect(types(await ask({ tools: [datetime, own] }))).toEqual(['gateway:datetime', 'message'])
    expect((upstream.requests[0]!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name).toSorted()).toEqual([
      'datetime',
      'gateway_datetime',
    ])
  })

  it("leave the caller's custom tool its name, too", async () => {
    upstream.script(calls(['gateway_datetime', {}]), says('ok'))
    expect(types(await ask({ tools: [datetime, { type: 'custom', name: 'datetime' }] }))).toEqual(['gateway:datetime', 'message'])
    expect((upstream.requests[0]!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name).toSorted()).toEqual([
      'datetime',
      'gateway_datetime',
    ])
  })

  it('leave calls of a function of the same name in a namespace of the caller to the caller', async () => {
    upstream.script(calls(['clock__datetime', { city: 'Bern' }]))
    const clock = {
      type: 'namespace',
      name: 'clock',
      description: 'Clocks.',
      tools: [{ type: 'function', name: 'datetime', parameters: { type: 'object' } }],
    }
    const answer = await ask({ tools: [datetime, clock] })
    expect(answer.output).toMatchObject([{ type: 'function_call', name: 'datetime', namespace: 'clock', arguments: '{"city":"Bern"}' }])
    expect(upstream.requests).toHaveLength(1)
  })

  it('can be forced, for the first turn only', async () => {
    upstream.script(calls(['datetime', {}]), says('ok'))
    await ask({ tools: [datetime, weather], tool_choice: { type: 'gateway:datetime' } })
    expect(upstream.requests[0]!.body['tool_choice']).toEqual({ type: 'function', function: { name: 'datetime' } })
    expect(upstream.requests[1]!.body['tool_choice'] ?? 'auto').toBe('auto')
  })

  it.each(['gateway:datetime', 'openrouter:datetime'])('match items of earlier answers, which are sent as the calls they were (%s)', async (type) => {
    upstream.script(says('ok'))
    const item = { type, id: 'st_1', status: 'completed', datetime: '2026-01-02T03:04:05.000Z', timezone: 'UTC' }
    await ask({ tools: [datetime], input: [{ role: 'user', content: 'When?' }, item, { role: 'user', content: 'And now?' }] })
    expect(messages(0)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'st_1', function: { name: 'datetime' } }] },
      { role: 'tool', tool_call_id: 'st_1', content: expect.stringContaining('2026-01-02T03:04:05.000Z') },
      { role: 'user' },
    ])
  })

  it('match failed calls of earlier answers, which are still shown as failed', async () => {
    upstream.script(calls(['datetime', { timezone: 5 }]), says('I give up.'))
    const { output } = await ask({ tools: [datetime] })
    upstream.script(says('ok'))
    const from = upstream.requests.length
    await ask({ tools: [datetime], input: [{ role: 'user', content: 'When?' }, ...output, { role: 'user', content: 'Again.' }] })
    expect(messages(from).find(({ role }) => role === 'tool')).toMatchObject({ content: expect.stringContaining('"status":"error"') })
  })

  it.each([
    [{ type: 'gateway:nothing' }, 'no server tool'],
    [{ type: 'gateway:shell' }, 'tools.sandbox.url'],
    [{ type: 'gateway:bash' }, 'tools.sandbox.url'],
    [{ type: 'gateway:files' }, 'tools.sandbox.url'],
    [{ type: 'gateway:web_search', parameters: { engine: 'exa' } }, 'tools.web_search.engines'],
    [{ type: 'gateway:web_search' }, 'tools.web_search.engines'],
    [{ type: 'gateway:image_generation' }, 'tools.image_generation.model'],
    [{ type: 'gateway:subagent', parameters: { tools: [{ type: 'function' }] } }, 'server tools only'],
  ])('may not include %j, which is refused before anything is sent', async (tool, words) => {
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [tool], stream: true })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(words)
    expect(upstream.requests).toHaveLength(0)
  })
})

describe('an unknown tool with a long name', () => {
  it('is refused with the beginning of its name and the known tools, within a kilobyte', async () => {
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [{ type: `gateway:${'\u{1f600}'.repeat(1_000)}` }] })
    const text = await response.text()
    expect([response.status, Buffer.byteLength(text) < 1_024, text]).toEqual([400, true, expect.stringContaining('known are datetime')])
  })
})

describe('calls that go wrong', () => {
  it.each([
    ['not JSON', '{"timezone":'],
    ['of the wrong type', '{"timezone":5}'],
  ])(verifies('K2', 'tells the model of arguments that are %s'), async (_name, args) => {
    upstream.script(calls(['datetime', args]), says('I give up.'))
    const answer = await ask({ tools: [datetime] })
    expect(answer.output[0]).toMatchObject({ type: 'gateway:datetime', status: 'incomplete' })
    expect(messages(1).at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('"status":"error"') })
    expect(answer['usage']).toMatchObject({ server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 0 } })
  })

  it.each([
    ['web_fetch', 'The argument url is not valid'],
    ['subagent', 'The argument task_name is not valid'],
    ['fusion', 'The argument prompt is not valid'],
  ])('says on the item of %s why the call never ran', async (name, why) => {
    upstream.script(calls([name, {}]), says('I give up.'))
    const tool = { type: `gateway:${name}`, ...(name === 'fusion' ? { parameters: { analysis_models: ['acme/small'] } } : {}) }
    const { output } = await ask({ tools: [tool] })
    expect(output[0]).toMatchObject({ type: tool.type, error: expect.stringContaining(why) })
    upstream.script(says('ok'))
    const from = upstream.requests.length
    await ask({ tools: [tool], input: [{ role: 'user', content: 'Go.' }, ...output, { role: 'user', content: 'Again.' }] })
    expect(messages(from).find(({ role }) => role === 'tool')).toMatchObject({ content: expect.stringContaining(why) })
  })

  it('accepts null for an optional argument, and for no other', async () => {
    upstream.script(calls(['datetime', { timezone: null }], ['experimental__search_models', { query: 'small', series: null }]), says('Now.'))
    const answer = await ask({ tools: [datetime, { type: 'gateway:experimental__search_models' }] })
    expect(answer.output).toMatchObject([{ status: 'completed', timezone: 'UTC' }, { status: 'completed', query: 'small' }, { type: 'message' }])
    expect(messages(1).at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('"total_results":1') })

    upstream.script(calls(['web_fetch', { url: null }]), says('I give up.'))
    const from = upstream.requests.length
    expect((await ask({ tools: [{ type: 'gateway:web_fetch' }] })).output[0]).toMatchObject({ status: 'incomplete' })
    expect(messages(from + 1).at(-1)).toMatchObject({ content: expect.stringContaining('The argument url is not valid') })
  })

  it.each([true, false])('reports an unknown tool to the model if the caller has no functions (stream: %s)', async (streamed) => {
    upstream.script(calls(['web.search', { q: 'x' }], ['datetime', {}]), says('I see.'))
    const answer = await ask({ tools: [datetime] }, streamed)
    expect(types(answer)).toEqual(['gateway:datetime', 'message'])
    expect(messages(1).slice(-2)).toMatchObject([
      { role: 'tool', content: expect.stringContaining('There is no tool of this name. The tools are: datetime') },
      { role: 'tool', content: expect.stringContaining('datetime') },
    ])
    // Names that providers would refuse are rewritten to a form that they accept.
    expect(messages(1).at(-3)).toMatchObject({
      tool_calls: [{ function: { name: expect.stringMatching(/^web_search[\w-]*$/) } }, { function: { name: 'datetime' } }],
    })
    expect(answer['usage']).toMatchObject({ server_tool_use_details: { tool_calls_requested: 2, tool_calls_executed: 1 } })
  })

  it.each<[string, Json]>([
    ['has functions', { tools: [datetime, weather] }],
    [
      'had one earlier',
      {
        input: [
          { type: 'function_call', call_id: 'c', name: 'old', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: '' },
        ],
      },
    ],
    [
      'brings tools along',
      {
        input: [
          { type: 'additional_tools', role: 'developer', tools: [weather] },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
  ])('leaves calls of an unknown function to a caller who %s', async (_who, body) => {
    upstream.script(calls(['old', {}]))
    expect(types(await ask({ tools: [datetime], ...body }))).toEqual(['function_call'])
  })

  it(verifies('H4', 'P46', 'ends a loop of repeated calls'), async () => {
    const turn = calls(['experimental__search_models', { query: 'zzz' }])
    upstream.script(turn, turn, turn, says('I found none'))
    const answer = await ask({ tools: [{ type: 'gateway:experimental__search_models' }] })
    expect(upstream.requests).toHaveLength(4)
    expect(answer.gateway_metadata).toMatchObject({
      pipeline: [{ type: 'server_tools', data: { stopped_by: 'repeated_call', tool_calls_executed: 3 } }],
    })
  })
})

describe('failover between turns', () => {
  it('continues at another endpoint when the first fails, with the conversation so far', async () => {
    upstream.script(calls(['datetime', {}]), reset())
    const answer = await ask({ tools: [datetime] }, true)
    expect(answer).toMatchObject({ status: 'completed', output: [{ type: 'gateway:datetime' }, { content: [{ text: 'from the backup' }] }] })
    expect(messages(0, backup).at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_datetime_0' })
  })

  it.each([1, 2])('gives a call that breaks off to another endpoint, because the caller has seen nothing of turn %i', async (turn) => {
    const breaksOff = stream([chatEvents.role(), chatEvents.call(0, 'call_1', 'datetime', '{"timezone":')])
    upstream.script(...(turn === 1 ? [] : [calls(['datetime', {}])]), breaksOff)
    backup.script(calls(['datetime', {}]), says('done'))
    const answer = await ask({ tools: [datetime] }, true)
    const ran = { type: 'gateway:datetime' }
    expect(answer).toMatchObject({ status: 'completed', output: [...(turn === 1 ? [] : [ran]), ran, { type: 'message' }] })
    // The broken turn costs the caller nothing, as if it had not begun.
    const served = (n: number, factor: number): number => n * (8 * (1 + factor) * 1e-6 + 3 * 0.1e-6 + 7 * (2 + factor) * 1e-6)
    expect(answer['usage']).toMatchObject({ cost: expect.closeTo(served(turn - 1, 0) + served(2, 100), 9) })
  })

  it('stays with the endpoint that served the turn before', async () => {
    upstream.script(status(503, { error: { message: 'busy' } }), status(503, { error: { message: 'busy' } }), says('never'))
    backup.script(calls(['datetime', {}]), calls(['datetime', {}]), says('done'))
    const answer = await ask({ tools: [datetime] })
    expect(answer).toMatchObject({ output_text: 'done', usage: { cost: expect.closeTo(3 * (8 * 101e-6 + 3 * 0.1e-6 + 7 * 102e-6), 9) } })
    expect(backup.requests).toHaveLength(3)
  })

  it('reports a failure in a later turn in the stream, with what was done, and records the cost', async () => {
    upstream.script(calls(['datetime', {}]), stream([chatEvents.role(), chatEvents.text('half an ')], { then: 'reset' }))
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [datetime], stream: true, provider: { only: ['acme'] } })
    const { terminal, output } = checkWire(await response.text())
    expect(terminal.type).toBe('response.failed')
    expect(output.map(({ type, status }) => [type, status])).toEqual([
      ['gateway:datetime', 'completed'],
      ['message', 'incomplete'],
    ])
    const record = (await (await gateway.api('GET', `/api/v1/generation?id=${response.headers.get('x-generation-id')}`)).json()) as { data: Json }
    expect(record.data['tokens_prompt']).toBeGreaterThan(11)
    expect(record.data['total_cost']).toBeGreaterThan(22e-6)
  })
})

it('shows the loop in the metadata and leaves its steps in the record', async () => {
  upstream.script(calls(['datetime', {}], ['datetime', { timezone: 'UTC' }]), says('ok'))
  const answer = await ask({ tools: [datetime] })
  expect(answer.gateway_metadata).toMatchObject({
    attempts: [
      { provider: 'Acme 0', status: 200 },
      { provider: 'Acme 0', status: 200 },
    ],
    pipeline: [
      { type: 'server_tools', name: 'server_tools', summary: '2 calls in 2 turns', data: { turns: 2, tools: { datetime: 2 } }, cost_usd: 0 },
    ],
  })
})

it('leaves calls without server tools alone', async () => {
  upstream.script(calls(['weather', { city: 'Bern' }]))
  const answer = await ask({ tools: [weather] })
  expect(answer.output).toMatchObject([{ type: 'function_call', name: 'weather' }])
  expect(answer.gateway_metadata).not.toHaveProperty('pipeline')
})

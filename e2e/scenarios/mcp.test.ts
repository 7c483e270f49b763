import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startMcpServer, type McpKind, type TestMcpServer } from '../../src/testing/mcp-server.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { speakerOf, VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer } from '../../src/testing/voices/voice.ts'

/** Real remote MCP servers of both eras and both transports, called by a scripted model of every format. */

const SUPPORTS = ['tools', 'tool_choice', 'reasoning', 'image', 'max_tokens']
const BLIND = SUPPORTS.filter((able) => able !== 'image')
const voices = [...VENDOR_VOICES.values()]
const chat = VENDOR_VOICES.get('openai-chat')!
const upstreams = new Map<string, FakeUpstream>()
const servers = new Map<McpKind, TestMcpServer>()
let gateway: TestGateway
/** The model's answers, turn by turn. */
let turns: ScriptedAnswer[] = []

beforeAll(async () => {
  for (const voice of voices)
    upstreams.set(voice.dialect, await startFakeUpstream(speakerOf(voice, () => (turns.length > 1 ? turns.shift()! : turns[0]!))))
  for (const kind of ['modern', 'sessions', 'sse'] as const) servers.set(kind, await startMcpServer(kind))
  gateway = await startGateway({
    providers: voices.map((voice) => ({
      slug: `v-${voice.dialect}`,
      dialect: voice.dialect,
      base_url: upstreams.get(voice.dialect)!.url,
      api_keys: ['k'],
      options: voice.options,
    })),
    models: [
      ...voices.flatMap((voice) =>
        [SUPPORTS, BLIND].map((supports) => ({
          slug: `acme/${supports === SUPPORTS ? '' : 'blind-'}${voice.dialect}`,
          context_length: 200_000,
          endpoints: [{ provider: `v-${voice.dialect}`, upstream_model: voice.model, supports }],
        })),
      ),
      {
        slug: 'acme/half-blind',
        context_length: 200_000,
        endpoints: [
          { provider: 'v-openai-chat', upstream_model: chat.model, supports: BLIND },
          { provider: 'v-gemini', upstream_model: VENDOR_VOICES.get('gemini')!.model, supports: SUPPORTS },
        ],
      },
    ],
    routing: { sticky: false },
    network: { allow_private: { tools: true } },
  })
})
afterAll(async () => {
  await gateway.close()
  for (const server of servers.values()) await server.close()
  for (const upstream of upstreams.values()) await upstream.close()
})
beforeEach(() => {
  turns = []
  for (const server of servers.values()) server.forget()
  for (const upstream of upstreams.values()) (upstream.requests as unknown[]).length = 0
})

type Item = { readonly type: string; readonly [field: string]: unknown }
interface Answer {
  readonly output: readonly Item[]
  readonly events: readonly { readonly type: string; readonly [field: string]: unknown }[]
  readonly resource: { readonly [field: string]: unknown }
}

async function ask(body: object, { voice = chat, streamed = false } = {}): Promise<Answer> {
  const response = await gateway.respond(
    { model: `acme/${voice.dialect}`, input: 'What is two and three?', ...body, stream: streamed },
    { headers: { 'x-gateway-experimental-metadata': 'enabled' } },
  )
  const text = await response.text()
  expect({ status: response.status, text: response.status === 200 ? '' : text }).toEqual({ status: 200, text: '' })
  if (!streamed) {
    const resource = JSON.parse(text) as { output: Item[] }
    return { output: resource.output, events: [], resource }
  }
  const { events, terminal, output } = checkWire(text)
  return { output, events, resource: terminal['response'] as Answer['resource'] }
}

const entry = (kind: McpKind = 'modern', more: object = {}) => ({
  type: 'mcp',
  server_label: 'math',
  server_url: servers.get(kind)!.url,
  require_approval: 'never',
  ...more,
})
const calling = (...made: readonly (readonly [name: string, args: object])[]): ScriptedAnswer => ({
  calls: made.map(([name, args], n) => ({ id: `call_${n}_${name}`.slice(0, 40), name, arguments: JSON.stringify(args) })),
})
const types = (answer: Answer): string[] => answer.output.map(({ type }) => type)
const rpc = (kind: McpKind): (string | undefined)[] => servers.get(kind)!.requests.map((seen) => seen.rpc)
const user = (text: string): Item => ({ type: 'message', role: 'user', content: text })
const offeredTo = (n = 0): string[] =>
  (upstreams.get('openai-chat')!.requests[n]!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)
const readBy = (n: number): { role: string; content: unknown }[] =>
  upstreams.get('openai-chat')!.requests[n]!.body['messages'] as { role: string; content: unknown }[]

describe.each(voices.map((voice) => [voice.dialect, voice] as const))('a model behind %s', (_dialect, voice) => {
  it('uses a server declared in the input, which its endpoint does not see', async () => {
    turns = [calling(['math__add', { a: 2, b: 3 }]), { text: 'Five.' }]
    const added = { type: 'additional_tools', role: 'developer', tools: [entry('modern', { headers: { 'x-canary': 'canary' } })] }
    const answer = await ask({ input: [added, user('What is two and three?')] }, { voice })
    expect(types(answer)).toEqual(['mcp_list_tools', 'mcp_call', 'message'])
    expect(servers.get('modern')!.requests.length).toBeGreaterThan(0)
    expect(JSON.stringify(upstreams.get(voice.dialect)!.requests.map(({ body }) => body))).not.toContain('canary')
  })

  it.each([true, false])('sees the tools of a server and uses one (stream: %s)', async (streamed) => {
    turns = [{ reasoning: { text: 'I add.', secret: 'c2VjcmV0' }, ...calling(['math__add', { a: 2, b: 3 }]) }, { text: 'Five.' }]
    const answer = await ask({ tools: [entry()] }, { voice, streamed })
    expect(answer.output.filter(({ type }) => type !== 'reasoning')).toMatchObject([
      {
        type: 'mcp_list_tools',
        id: expect.stringMatching(/^mcpl_/),
        server_label: 'math',
        tools: expect.arrayContaining([
          {
            name: 'add',
            description: 'Adds two numbers.',
            input_schema: expect.objectContaining({ type: 'object' }),
            annotations: { readOnlyHint: true },
          },
        ]),
      },
      {
        type: 'mcp_call',
        id: expect.stringMatching(/^mcp_/),
        server_label: 'math',
        name: 'add',
        arguments: '{"a":2,"b":3}',
        output: '5',
        error: null,
      },
      { type: 'message' },
    ])
    expect(answer.resource['usage']).toMatchObject({ server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 1 } })
    if (streamed) {
      const told = answer.events.filter(({ type }) => type.startsWith('response.mcp_'))
      expect(told.map(({ type }) => type.slice('response.'.length))).toEqual([
        'mcp_list_tools.in_progress',
        'mcp_list_tools.completed',
        'mcp_call.in_progress',
        'mcp_call_arguments.delta',
        'mcp_call_arguments.done',
        'mcp_call.completed',
      ])
      expect(told[3]).toMatchObject({ delta: '{"a":2,"b":3}' })
      expect(told[4]).toMatchObject({ arguments: '{"a":2,"b":3}' })
    }
    // The whole answer is sent back: the list is not requested again, and the calls are unchanged.
    servers.get('modern')!.forget()
    turns = [{ text: 'As I said.' }]
    const again = await ask({ tools: [entry()], input: [user('Add.'), ...answer.output, user('Sure?')] }, { voice, streamed })
    expect(types(again)).toEqual(['message'])
    expect(rpc('modern')).toEqual([])
  })

  it.each([true, false])('may end without text after a tool call (stream: %s)', async (streamed) => {
    turns = [calling(['math__add', { a: 2, b: 3 }]), {}]
    const answer = await ask({ tools: [entry()] }, { voice, streamed })
    expect(types(answer)).toEqual(['mcp_list_tools', 'mcp_call'])
    expect(answer.resource).toMatchObject({ status: 'completed', output_text: '', usage: { output_tokens: 24 } })
  })

  it.each([true, false])('without image input gets a note where a tool returns an image (stream: %s)', async (streamed) => {
    turns = [calling(['math__draw', {}]), { text: 'A dot.' }]
    const model = `acme/blind-${voice.dialect}`
    const answer = await ask({ model, tools: [entry()] }, { voice, streamed })
    expect(types(answer)).toEqual(['mcp_list_tools', 'mcp_call', 'message'])
    const { body } = upstreams.get(voice.dialect)!.requests[1]!
    expect(JSON.stringify(body)).toContain('a dot\\n[image image/png, 70 bytes]')
    expect(JSON.stringify(body)).not.toContain('iVBOR')
    // The same applies if the call waited for the caller's approval before any model had answered.
    const held = entry('sessions', { require_approval: 'always' })
    turns = [calling(['math__draw', {}])]
    const { output } = await ask({ model, tools: [held] }, { voice, streamed })
    turns = [{ text: 'A dot.' }]
    const approval = { type: 'mcp_approval_response', approval_request_id: output.at(-1)!['id'], approve: true }
    expect(types(await ask({ model, tools: [held], input: [user('Draw.'), ...output, approval] }, { voice, streamed }))).toEqual([
      'mcp_call',
      'message',
    ])
  })

  it.each([true, false])('waits for the approval of the caller (stream: %s)', async (streamed) => {
    const held = entry('sessions', { require_approval: 'always' })
    turns = [calling(['math__add', { a: 2, b: 3 }])]
    const first = await ask({ tools: [held] }, { voice, streamed })
    expect(first.output.at(-1)).toEqual({
      type: 'mcp_approval_request',
      id: expect.stringMatching(/^mcpr_/),
      server_label: 'math',
      name: 'add',
      arguments: '{"a":2,"b":3}',
    })
    expect(first.resource).toMatchObject({
      status: 'completed',
      usage: { server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 0 } },
    })
    expect(servers.get('sessions')!.calls).toEqual([])

    const approval = { type: 'mcp_approval_response', approval_request_id: first.output.at(-1)!['id'], approve: true }
    turns = [{ text: 'Five.' }]
    const history = [user('Add.'), ...first.output, approval]
    const second = await ask({ tools: [held], input: history }, { voice, streamed })
    expect(second.output).toMatchObject([
      { type: 'mcp_call', name: 'add', output: '5', error: null, approval_request_id: approval.approval_request_id },
      { type: 'message' },
    ])
    expect(servers.get('sessions')!.calls).toEqual([{ tool: 'add', args: { a: 2, b: 3 } }])

    // A call that has run does not run again, however the conversation continues.
    turns = [{ text: 'Yes.' }]
    await ask({ tools: [held], input: [...history, ...second.output, user('Sure?')] }, { voice, streamed })
    expect(servers.get('sessions')!.calls).toHaveLength(1)
  })
})

it.each([
  [{ order: ['v-openai-chat'] }, 'gemini', true],
  [{ only: ['v-openai-chat'] }, 'openai-chat', false],
])('an image goes to an endpoint with image input, if the call may go there: %o', async (provider, dialect, shown) => {
  turns = [calling(['math__draw', {}]), { text: 'A dot.' }]
  await ask({ model: 'acme/half-blind', provider, tools: [entry()] })
  expect(readBy(0)).toHaveLength(1)
  expect(JSON.stringify(upstreams.get(dialect)!.requests.at(-1)!.body).includes('iVBOR')).toBe(shown)
})

describe('an approval', () => {
  const held = { require_approval: { never: { tool_names: ['add'] } } }

  it('is asked for only where it is required; calls beside it run at once', async () => {
    turns = [calling(['math__add', { a: 1, b: 1 }], ['math__draw', {}])]
    const answer = await ask({ tools: [entry('modern', held)] })
    expect(types(answer).toSorted()).toEqual(['mcp_approval_request', 'mcp_call', 'mcp_list_tools'])
    expect(servers.get('modern')!.calls.map(({ tool }) => tool)).toEqual(['add'])
  })

  it('that is denied is reported to the model, with the reason', async () => {
    turns = [calling(['math__draw', {}])]
    const first = await ask({ tools: [entry('modern', held)] })
    turns = [{ text: 'Then not.' }]
    const id = first.output.at(-1)!['id']
    const response = { type: 'mcp_approval_response', approval_request_id: id, approve: false, reason: 'no drawings' }
    const second = await ask({ tools: [entry('modern', held)], input: [user('Draw.'), ...first.output, response] })
    expect(types(second)).toEqual(['message'])
    expect(JSON.stringify(readBy(1).at(-1))).toContain('no drawings')
    expect(servers.get('modern')!.calls).toEqual([])
  })

  it('of two calls runs both together', async () => {
    turns = [calling(['math__draw', {}], ['math__fail', {}])]
    const first = await ask({ tools: [entry('modern', held)] })
    const requests = first.output.filter(({ type }) => type === 'mcp_approval_request')
    turns = [{ text: 'Done.' }]
    const responses = requests.map(({ id }) => ({ type: 'mcp_approval_response', approval_request_id: id, approve: true }))
    const second = await ask({ tools: [entry('modern', held)], input: [user('Go.'), ...first.output, ...responses] }, { streamed: true })
    expect(second.output).toMatchObject([
      { type: 'mcp_call', name: 'draw', output: 'a dot\n[image image/png, 70 bytes]' },
      { type: 'mcp_call', name: 'fail', error: 'the disk is full', output: null, status: 'failed' },
      { type: 'message' },
    ])
  })

  it('may name its request by reference', async () => {
    turns = [calling(['math__draw', {}])]
    const first = await ask({ tools: [entry('modern', held)] })
    const id = first.output.at(-1)!['id'] as string
    turns = [{ text: 'Done.' }]
    const input = [user('Go.'), { type: 'item_reference', id }, { type: 'mcp_approval_response', approval_request_id: id, approve: true }]
    expect(types(await ask({ tools: [entry('modern', held)], input }))).toEqual(['mcp_list_tools', 'mcp_call', 'message'])
  })

  it('of an unknown request is refused, with its path', async () => {
    const input = [user('Go.'), { type: 'mcp_approval_response', approval_request_id: 'mcpr_none', approve: true }]
    const response = await gateway.respond({ model: 'acme/openai-chat', tools: [entry()], input })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('input[1].approval_request_id')
  })
})

describe('a conversation that allows one more tool', () => {
  const allowing = (...names: string[]) => entry('modern', { allowed_tools: names })
  const begun = async (): Promise<Item[]> => {
    turns = [{ text: 'Hello.' }]
    const { output } = await ask({ tools: [allowing('add')] })
    return [user('Hi.'), ...output, user('Draw.')]
  }

  it('offers it from then on, and lists the tools of the server once', async () => {
    const input = await begun()
    turns = [calling(['math__draw', {}]), { text: 'Drawn.' }]
    const second = await ask({ tools: [allowing('add', 'draw')], input })
    expect(offeredTo(1)).toEqual(['math__add', 'math__draw'])
    expect(types(second)).toEqual(['mcp_list_tools', 'mcp_call', 'message'])
    servers.get('modern')!.forget()
    turns = [{ text: 'Yes.' }]
    expect(types(await ask({ tools: [allowing('add', 'draw')], input: [...input, ...second.output, user('Sure?')] }))).toEqual(['message'])
    expect(rpc('modern')).toEqual([])
  })

  it('continues with the known tools where the server lacks the new one, or fails', async () => {
    const input = await begun()
    turns = [{ text: 'I cannot.' }]
    expect(types(await ask({ tools: [allowing('add', 'paint')], input }))).toEqual(['message'])
    servers.get('modern')!.intercept((_request, response) => response.writeHead(500).end() !== undefined)
    expect(types(await ask({ tools: [allowing('add', 'draw')], input }))).toEqual(['message'])
    servers.get('modern')!.intercept(undefined)
    expect([offeredTo(1), offeredTo(2)]).toEqual([['math__add'], ['math__add']])
  })
})

describe('several servers', () => {
  it('may have tools of the same name, and run in parallel', async () => {
    turns = [calling(['left__add', { a: 1, b: 1 }], ['right__add', { a: 2, b: 2 }]), { text: 'Two and four.' }]
    const tools = [entry('modern', { server_label: 'left' }), entry('sse', { server_label: 'right' })]
    const answer = await ask({ tools }, { streamed: true })
    expect(answer.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'left' },
      { type: 'mcp_list_tools', server_label: 'right' },
      { type: 'mcp_call', server_label: 'left', name: 'add', output: '2' },
      { type: 'mcp_call', server_label: 'right', name: 'add', output: '4' },
      { type: 'message' },
    ])
    expect([servers.get('modern')!.calls, servers.get('sse')!.calls]).toMatchObject([[{ args: { a: 1 } }], [{ args: { a: 2 } }]])
  })

  it('can be combined with functions of the caller, which end the loop', async () => {
    turns = [calling(['math__add', { a: 1, b: 1 }], ['weather', {}])]
    const answer = await ask({
      tools: [entry(), { type: 'function', name: 'weather', parameters: { type: 'object' } }, { type: 'gateway:datetime' }],
    })
    expect(types(answer).toSorted()).toEqual(['function_call', 'mcp_call', 'mcp_list_tools'])
    expect(offeredTo()).toEqual(expect.arrayContaining(['weather', 'datetime', 'math__add']))
  })

  it('get other names for tools whose name a function of the caller has', async () => {
    turns = [calling(['gateway_math__add', { a: 1, b: 1 }]), { text: 'ok' }]
    const answer = await ask({ tools: [{ type: 'function', name: 'math__add', parameters: { type: 'object' } }, entry()] })
    expect(answer.output[1]).toMatchObject({ type: 'mcp_call', name: 'add', output: '2' })
  })
})

describe('the tools of a server that are offered', () => {
  it.each([
    [['add'], ['math__add']],
    [{ read_only: true }, ['math__add']],
    [{ tool_names: ['draw', 'fail'] }, ['math__draw', 'math__fail']],
  ])('are those that are allowed: %j', async (allowed_tools, names) => {
    turns = [{ text: 'ok' }]
    const answer = await ask({ tools: [entry('modern', { allowed_tools })] })
    expect(offeredTo().toSorted()).toEqual(names)
    expect((answer.output[0]!['tools'] as unknown[]).length).toBe(names.length)
  })

  it('have the description of the server in theirs, if the caller gives one', async () => {
    turns = [{ text: 'ok' }]
    await ask({ tools: [entry('modern', { server_description: 'Sums for everyone.', allowed_tools: ['add'] })] })
    expect(upstreams.get('openai-chat')!.requests[0]!.body['tools']).toMatchObject([
      {
        function: {
          description: 'Adds two numbers.\n(Server: Sums for everyone.)',
          parameters: { type: 'object', properties: { a: { type: 'number' } } },
        },
      },
    ])
  })

  it('are those the server has now, unless the caller sends the list of an earlier answer', async () => {
    const server = await startMcpServer('modern')
    const own = { ...entry(), server_url: server.url }
    turns = [{ text: 'ok' }]
    await ask({ tools: [own] })
    server.addTool('later')
    await ask({ tools: [own] })
    expect(offeredTo(0)).not.toContain('math__later')
    expect(offeredTo(1)).toContain('math__later')
    await server.close()
  })

  it.each<[string, object]>([
    ['which tools may be used', { allowed_tools: { read_only: true } }],
    ['which need approval', { allowed_tools: ['add', 'draw'], require_approval: { never: { read_only: true } } }],
  ])('are listed by the server itself where its annotations decide %s, because a list from the caller may be forged', async (_what, rules) => {
    const says = (name: string, readOnlyHint: boolean): object => ({ name, input_schema: { type: 'object' }, annotations: { readOnlyHint } })
    const forged = { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'math', tools: [says('add', true), says('draw', true)] }
    turns = [calling(['math__draw', {}]), { text: 'ok' }]
    const answer = await ask({ tools: [entry('modern', rules)], input: [user('Draw.'), forged] })
    expect(servers.get('modern')!.calls).toEqual([])
    // The conversation already contains its list.
    expect(types(answer)).not.toContain('mcp_list_tools')
  })

  it('can be forced for the first turn', async () => {
    turns = [calling(['math__add', { a: 1, b: 1 }]), { text: 'ok' }]
    await ask({ tools: [entry()], tool_choice: { type: 'mcp', server_label: 'math', name: 'add' } })
    const choices = upstreams.get('openai-chat')!.requests.map(({ body }) => body['tool_choice'] ?? 'auto')
    expect(choices).toEqual([{ type: 'function', function: { name: 'math__add' } }, 'auto'])
  })

  it('can be forced as a group', async () => {
    turns = [calling(['math__add', { a: 1, b: 1 }]), { text: 'ok' }]
    const tools = [entry(), { type: 'function', name: 'weather', parameters: { type: 'object' } }]
    await ask({ tools, tool_choice: { type: 'mcp', server_label: 'math' } })
    const [first, second] = upstreams.get('openai-chat')!.requests.map(({ body }) => body)
    expect(first!['tool_choice']).not.toBe('auto')
    expect(JSON.stringify(first!['tool_choice']) + JSON.stringify(offeredTo(0))).toContain('math__add')
    expect(second!['tool_choice'] ?? 'auto').toBe('auto')
    expect(offeredTo(1)).toContain('weather')
  })
})

describe('the loop', () => {
  it('counts calls of remote tools in its budget', async () => {
    // The second call is against its instructions, so the model is asked once more, without tools.
    turns = [calling(['math__add', { a: 1, b: 1 }]), calling(['math__add', { a: 2, b: 2 }]), { text: 'enough' }]
    const answer = await ask({ tools: [entry()], max_tool_calls: 1 })
    expect(types(answer)).toEqual(['mcp_list_tools', 'mcp_call', 'message'])
    expect(answer.resource['gateway_metadata']).toMatchObject({
      pipeline: [{ type: 'server_tools', data: { stopped_by: 'max_tool_calls', tools: { math__add: 1 } } }],
    })
  })

  it.each(['add', 'math__add', 'math', 'mcp'])('stops after a call of %s', async (tool_name) => {
    turns = [calling(['math__add', { a: 1, b: 1 }]), { text: 'ok' }]
    const answer = await ask({ tools: [entry()], stop_server_tools_when: [{ type: 'has_tool_call', tool_name }] })
    expect(answer.resource['gateway_metadata']).toMatchObject({ pipeline: [{ data: { stopped_by: 'has_tool_call' } }] })
  })

  it('stops when a call is repeated with the same result', async () => {
    const turn = calling(['math__add', { a: 1, b: 1 }])
    turns = [turn, turn, turn, { text: 'it is 2' }]
    const answer = await ask({ tools: [entry()] })
    expect(answer.resource['gateway_metadata']).toMatchObject({ pipeline: [{ data: { stopped_by: 'repeated_call' } }] })
  })

  it('lists in the metadata what ran', async () => {
    turns = [calling(['math__add', { a: 1, b: 1 }], ['math__fail', {}]), { text: 'ok' }]
    const answer = await ask({ tools: [entry()] })
    expect(answer.resource['gateway_metadata']).toMatchObject({
      pipeline: [
        {
          type: 'server_tools',
          summary: '2 calls in 2 turns',
          data: { tool_calls_requested: 2, tool_calls_executed: 1, tool_calls_failed: 1, tools: { math__add: 1, math__fail: 1 } },
        },
      ],
    })
  })
})

it('one session serves a caller over many answers, and no other credential', async () => {
  turns = [{ text: 'ok' }]
  const server = await startMcpServer('sessions')
  const own = (authorization: string) => ({ ...entry(), server_url: server.url, authorization })
  await ask({ tools: [own('token-of-alice')] })
  await ask({ tools: [own('token-of-alice')] })
  await ask({ tools: [own('token-of-bob')] })
  const sessions = new Map<unknown, Set<unknown>>()
  for (const { headers } of server.requests) {
    const { authorization, 'mcp-session-id': session } = headers
    if (session !== undefined) sessions.set(session, (sessions.get(session) ?? new Set()).add(authorization))
  }
  expect(server.requests.filter(({ rpc: method }) => method === 'initialize')).toHaveLength(2)
  expect([...sessions.values()].map((tokens) => [...tokens])).toEqual([['Bearer token-of-alice'], ['Bearer token-of-bob']])
  await server.close()
})

it('a history with remote calls is readable without the tool, too', async () => {
  turns = [{ text: 'As I said.' }]
  const call = { type: 'mcp_call', id: 'mcp_1', server_label: 'math', name: 'add', arguments: '{"a":2,"b":3}', output: '5', error: null }
  await ask({ input: [user('Add.'), { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'math', tools: [] }, call, user('Sure?')] })
  expect(readBy(0)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ function: { name: 'math__add', arguments: '{"a":2,"b":3}' } }] },
    { role: 'tool', content: '5' },
    { role: 'user' },
  ])
})

it('callers who use the gateway’s own tool type get its own items, and no events of the vendor', async () => {
  turns = [calling(['math__add', { a: 2, b: 3 }]), { text: 'Five.' }]
  const answer = await ask({ tools: [entry('modern', { type: 'openrouter:mcp' })] }, { streamed: true })
  expect(answer.output).toMatchObject([
    { type: 'openrouter:mcp', status: 'completed', serverLabel: 'math', toolName: 'add', output: '5' },
    { type: 'message' },
  ])
  expect(answer.events.filter(({ type }) => type.startsWith('response.mcp_'))).toEqual([])
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, status, type FakeUpstream, type Reply, type SeenRequest } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway, calls, callsAfter, says } from '../../src/testing/tool-script.ts'

/**
 * Subagents with functions of the caller: a call of one ends the answer with the subagent in progress, and the next request brings the result to the
 * subagent before the model goes on.
 */
type Json = Record<string, unknown>
type Answer = Json & { readonly output: readonly Json[]; readonly gateway_metadata: Json }

let upstream: FakeUpstream
let gateway: TestGateway
let scripts: { [model: string]: Reply[] } = {}
let from = 0

beforeAll(async () => {
  upstream = await startFakeUpstream((request, response) => {
    const script = scripts[request.body['model'] as string] ?? []
    const reply = script.length > 1 ? script.shift() : script[0]
    return (reply ?? status(500, { error: { message: 'not scripted' } }))(request, response)
  })
  gateway = await startGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['upstream-key'] }],
    models: ['small', 'big', 'other'].map((name) => ({
      slug: `acme/${name}`,
      context_length: 64_000,
      endpoints: [{ provider: 'acme', upstream_model: name, pricing: { input: 1, output: 2 } }],
    })),
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => {
  scripts = {}
  from = upstream.requests.length
})

const requestsTo = (model: string): readonly SeenRequest[] => upstream.requests.slice(from).filter(({ body }) => body['model'] === model)
const messagesTo = (model: string) => requestsTo(model).at(-1)!.body['messages'] as readonly Json[]
const offeredTo = (model: string) =>
  ((requestsTo(model)[0]!.body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)
const ask = (body: Json, streamed: boolean): Promise<Answer> => askGateway(gateway, body, streamed)

const order = { type: 'function', name: 'look_up', parameters: { type: 'object', properties: { id: { type: 'string' } } } }
const other = { type: 'function', name: 'change', parameters: { type: 'object', properties: {} } }
const worker = (parameters: Json = {}): Json => ({
  type: 'gateway:subagent',
  parameters: { model: 'acme/big', inherited_function_names: ['look_up'], ...parameters },
})
const task = { task_name: 'find', task_description: 'Find order 1.' }
const question = { type: 'message', role: 'user', content: 'Where is it?' }
const result = (call: Json | undefined, output: string): Json => ({ type: 'function_call_output', call_id: call!['call_id'], output })
const ofType = (answer: Answer, type: string): readonly Json[] => answer.output.filter((item) => item['type'] === type)

describe.each([true, false])('a subagent with functions of the caller (stream: %s)', (streamed) => {
  it('ends the answer with its calls and goes on with their results', async () => {
    scripts = {
      small: [calls(['subagent', task]), says('It has shipped.')],
      big: [callsAfter('Looking.', ['look_up', { id: '1' }]), says('Shipped.')],
    }
    const tools = [order, other, worker()]
    const first = await ask({ input: [question], tools }, streamed)
    const [waiting, call] = first.output
    expect(first.output).toHaveLength(2)
    expect(waiting).toMatchObject({ type: 'gateway:subagent', status: 'in_progress', call_id: 'call_subagent_0', ...task })
    expect(call).toMatchObject({
      type: 'function_call',
      status: 'completed',
      name: 'look_up',
      arguments: '{"id":"1"}',
      subagent_id: 'call_subagent_0',
    })
    expect(call!['subagent_items']).toEqual([
      expect.objectContaining({ type: 'message', role: 'assistant', content: [expect.objectContaining({ text: 'Looking.' })] }),
      expect.objectContaining({ type: 'function_call', call_id: call!['call_id'], name: 'look_up', arguments: '{"id":"1"}' }),
    ])
    expect(first['status']).toBe('completed')
    expect(offeredTo('big')).toEqual(['look_up'])

    const second = await ask({ input: [question, ...first.output, result(call, 'shipped')], tools }, streamed)
    expect(messagesTo('big')).toEqual([
      { role: 'user', content: 'Find order 1.' },
      expect.objectContaining({ role: 'assistant', content: 'Looking.', tool_calls: [expect.objectContaining({ id: call!['call_id'] })] }),
      { role: 'tool', tool_call_id: call!['call_id'], content: 'shipped' },
    ])
    expect(second.output).toMatchObject([
      { type: 'gateway:subagent', status: 'completed', call_id: 'call_subagent_0', ...task, model: 'acme/big', outcome: 'Shipped.' },
      { type: 'message' },
    ])
    expect(second.output[0]!['id']).not.toBe(waiting!['id'])
    expect(second['output_text']).toBe('It has shipped.')
    expect(messagesTo('small').slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_subagent_0', function: { name: 'subagent', arguments: JSON.stringify(task) } }] },
      { role: 'tool', tool_call_id: 'call_subagent_0', content: expect.stringContaining('"outcome":"Shipped."') },
    ])

    // Further turns read the whole history: the finished call in the place of the one that waited, without the worker's own calls.
    await ask(
      { input: [question, ...first.output, result(call, 'shipped'), ...second.output, { role: 'user', content: 'Thanks.' }], tools },
      streamed,
    )
    const roles = messagesTo('small').map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(requestsTo('big')).toHaveLength(2)
  })

  it('may call again, and the model waits until it has finished', async () => {
    scripts = {
      small: [calls(['subagent', task]), says('Done.')],
      big: [calls(['look_up', { id: '1' }], ['look_up', { id: '2' }]), calls(['look_up', { id: '3' }]), says('All shipped.')],
    }
    const tools = [order, worker({ inherited_function_names: undefined, inherit_functions: true })]
    const first = await ask({ input: [question], tools }, streamed)
    const [, one, two] = first.output
    expect([one!['subagent_items'] === undefined, two!['subagent_items'] === undefined]).toEqual([false, true])
    expect(one!['call_id']).not.toBe(two!['call_id'])
    const history = [question, ...first.output, result(one, 'a'), result(two, 'b')]
    const second = await ask({ input: history, tools }, streamed)
    expect(second.output).toMatchObject([{ type: 'function_call', name: 'look_up', subagent_id: 'call_subagent_0' }])
    expect(requestsTo('small')).toHaveLength(1)
    const third = await ask({ input: [...history, ...second.output, result(second.output[0], 'c')], tools }, streamed)
    expect(messagesTo('big').map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Find order 1.'],
      ['assistant', ''],
      ['tool', 'a'],
      ['tool', 'b'],
      ['assistant', ''],
      ['tool', 'c'],
    ])
    expect(third['output_text']).toBe('Done.')
    expect(third.output[0]).toMatchObject({ status: 'completed', outcome: 'All shipped.' })
    const { cost } = second['usage'] as { cost: number }
    expect(cost).toBeGreaterThan(0)
  })

  it('keeps two of them and a call of the model itself apart', async () => {
    scripts = {
      small: [calls(['subagent_one', task], ['subagent_two', { ...task, task_name: 'two' }], ['look_up', { id: '9' }]), says('Done.')],
      big: [calls(['look_up', { id: '1' }]), says('One.')],
      other: [says('Two.')],
    }
    const tools = [order, worker({ name: 'one' }), worker({ name: 'two', model: 'acme/other' })]
    const first = await ask({ input: [question], tools }, streamed)
    expect(ofType(first, 'gateway:subagent').map(({ status: how }) => how)).toEqual(['in_progress', 'completed'])
    const made = ofType(first, 'function_call')
    expect(made.map(({ subagent_id: id }) => id)).toEqual([undefined, 'call_subagent_one_0'])
    const second = await ask({ input: [question, ...first.output, result(made[0], 'own'), result(made[1], 'theirs')], tools }, streamed)
    expect(second.output).toMatchObject([{ type: 'gateway:subagent', instance_name: 'one', outcome: 'One.' }, { type: 'message' }])
    const told = messagesTo('small').filter(({ role }) => role === 'tool')
    expect(told.map(({ tool_call_id: id }) => id).toSorted()).toEqual(['call_look_up_2', 'call_subagent_one_0', 'call_subagent_two_1'])
    expect(told.find(({ tool_call_id: id }) => id === 'call_look_up_2')).toMatchObject({ content: 'own' })
  })

  it('cannot make the caller run a function that it was not given', async () => {
    const tools = [order, other, worker()]
    scripts = { small: [calls(['subagent', task]), says('Done.')], big: [calls(['change', {}], ['look_up', { id: '1' }]), says('One.')] }
    const first = await ask({ input: [question], tools }, streamed)
    expect(ofType(first, 'function_call')).toMatchObject([{ name: 'look_up', subagent_id: 'call_subagent_0' }])
    const second = await ask({ input: [question, ...first.output, result(first.output[1], 'a')], tools }, streamed)
    expect(second.output[0]).toMatchObject({ status: 'completed', outcome: 'One.' })
    const [, turn, ...results] = messagesTo('big')
    expect((turn!['tool_calls'] as { function: Json }[]).map(({ function: { name } }) => name)).toEqual(['change', 'look_up'])
    expect(results.map(({ content }) => content)).toEqual([expect.stringContaining('There is no function \\"change\\"'), 'a'])

    scripts = { small: [calls(['subagent', task]), says('Alone, then.')], big: [calls(['change', {}])] }
    const alone = await ask({ input: [question], tools }, streamed)
    expect(ofType(alone, 'function_call')).toEqual([])
    expect(alone.output[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('called only functions that it was not given') })
    expect(alone['output_text']).toBe('Alone, then.')
  })

  it('is told as failed if it cannot be continued', async () => {
    const input = async (): Promise<readonly Json[]> => {
      scripts = { small: [calls(['subagent', task])], big: [calls(['look_up', { id: '1' }])] }
      const { output } = await ask({ input: [question], tools: [order, worker()] }, streamed)
      scripts = { small: [says('Alone, then.')], big: [says('no')] }
      from = upstream.requests.length
      return [question, ...output, result(output[1], 'x')]
    }
    const [asked, waiting, call, output] = (await input()) as [Json, Json, Json, Json]
    const { subagent_items: _, ...bare } = call
    for (const [history, tools] of [
      [
        [asked, waiting, call],
        [order, worker()],
      ],
      [
        [asked, waiting, bare, output],
        [order, worker()],
      ],
      [
        [asked, waiting],
        [order, worker()],
      ],
      [[asked, waiting, call, output], [order]],
      [
        [asked, { ...waiting, call_id: undefined }],
        [order, worker()],
      ],
    ] as const) {
      const answer = await ask({ input: history, tools }, streamed)
      expect(answer['output_text']).toBe('Alone, then.')
      expect(messagesTo('small').at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('"status":"error"') })
    }
    expect(requestsTo('big')).toHaveLength(0)
  })

  it('stops calling where the caller limits its calls', async () => {
    scripts = { small: [calls(['subagent', task]), says('Done.')], big: [calls(['look_up', {}]), says('Enough.')] }
    const tools = [order, worker({ max_tool_calls: 1 })]
    const first = await ask({ input: [question], tools }, streamed)
    await ask({ input: [question, ...first.output, result(first.output[1], 'a')], tools }, streamed)
    expect(requestsTo('big')[1]!.body['tool_choice']).toBe('none')
  })
})

it('works alone for callers of other formats, where a preset lets it inherit', async () => {
  const made = await gateway.api('POST', '/api/v1/presets/team/responses', { model: 'acme/small', input: 'x', tools: [order, worker()] }, gateway.key)
  expect(made.status).toBe(200)
  scripts = { small: [calls(['subagent', task]), says('Done.')], big: [says('Alone.')] }
  const body = { model: '@preset/team', messages: [{ role: 'user', content: 'hi' }] }
  const response = await gateway.api('POST', '/api/v1/chat/completions', body, gateway.key)
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Done.' } }] })
  expect(offeredTo('big')).toEqual([])
})

describe('what is refused', () => {
  it('a call of a subagent without the item of that subagent', async () => {
    const call = { type: 'function_call', call_id: 'c', name: 'look_up', arguments: '{}', subagent_id: 'gone', subagent_items: [] }
    const response = await gateway.respond({ model: 'acme/small', input: [question, call, result(call, 'x')], tools: [order, worker()] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('input[1].subagent_id'), metadata: { error_type: 'invalid_prompt' } },
    })
  })

  it.each([
    [{ inherited_function_names: ['nothing'] }, 'nothing'],
    [{ inherited_function_names: [' '] }, 'inherited_function_names'],
  ])('%j', async (parameters, words) => {
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [order, worker(parameters)] })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(words)
  })

  it('in formats without such items', async () => {
    const body = { model: 'acme/small', messages: [{ role: 'user', content: 'hi' }], max_tokens: 10, tools: [worker()] }
    for (const path of ['/api/v1/chat/completions', '/api/v1/messages']) {
      const response = await gateway.api('POST', path, body, gateway.key)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('/api/v1/responses')
    }
    expect(upstream.requests.slice(from)).toHaveLength(0)
  })
})

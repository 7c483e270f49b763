import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway, calls } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/**
 * When each stop condition ends the loop. The scripted model never stops on its own: every turn calls the clock once (the second one also searches
 * models), uses 18 tokens and costs 22.3 millionths of a dollar. The turn after the condition is the last: the model is told not to call anything, and
 * writes a word.
 */
let upstream: FakeUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
let from = 0
beforeEach(() => {
  from = upstream.requests.length
  const turns = [calls(['datetime', {}]), calls(['datetime', {}], ['experimental__search_models', { query: 'small' }]), calls(['datetime', {}])]
  upstream.script(...turns.map(obedient))
})

const word = stream(chatText('done'))
const obedient =
  (turn: Reply): Reply =>
  (request, response) =>
    request.body['tool_choice'] === 'none' ? word(request, response) : turn(request, response)

const tools = [{ type: 'gateway:datetime' }, { type: 'gateway:experimental__search_models' }]
const TURN_COST = 8e-6 + 3 * 0.1e-6 + 7 * 2e-6

interface Row {
  readonly when?: readonly object[]
  readonly calls?: number
  /** The number of turns whose tools run. */
  readonly turns: number
  readonly by: string
}

const table: readonly (readonly [string, Row])[] = [
  ['step_count_is 1', { when: [{ type: 'step_count_is', step_count: 1 }], turns: 1, by: 'step_count_is' }],
  ['step_count_is 5', { when: [{ type: 'step_count_is', step_count: 5 }], turns: 5, by: 'step_count_is' }],
  ['has_tool_call by type', { when: [{ type: 'has_tool_call', tool_name: 'gateway:experimental__search_models' }], turns: 2, by: 'has_tool_call' }],
  [
    'has_tool_call by the other spelling',
    { when: [{ type: 'has_tool_call', tool_name: 'openrouter:experimental__search_models' }], turns: 2, by: 'has_tool_call' },
  ],
  ['has_tool_call by name', { when: [{ type: 'has_tool_call', tool_name: 'datetime' }], turns: 1, by: 'has_tool_call' }],
  ['max_tokens_used, exceeded in the third turn', { when: [{ type: 'max_tokens_used', max_tokens: 53 }], turns: 3, by: 'max_tokens_used' }],
  ['max_tokens_used, met but not exceeded in the third', { when: [{ type: 'max_tokens_used', max_tokens: 54 }], turns: 4, by: 'max_tokens_used' }],
  ['max_cost', { when: [{ type: 'max_cost', max_cost_in_dollars: TURN_COST * 1.5 }], turns: 2, by: 'max_cost' }],
  ['finish_reason_is', { when: [{ type: 'finish_reason_is', reason: 'tool_calls' }], turns: 1, by: 'finish_reason_is' }],
  [
    'a finish reason that does not come, and one condition that holds',
    {
      when: [
        { type: 'finish_reason_is', reason: 'length' },
        { type: 'step_count_is', step_count: 3 },
      ],
      turns: 3,
      by: 'step_count_is',
    },
  ],
  [
    'the first of several to hold',
    {
      when: [
        { type: 'step_count_is', step_count: 4 },
        { type: 'max_tokens_used', max_tokens: 20 },
        { type: 'max_cost', max_cost_in_dollars: 1 },
      ],
      turns: 2,
      by: 'max_tokens_used',
    },
  ],
  [
    'all five',
    {
      when: [
        { type: 'step_count_is', step_count: 9 },
        { type: 'has_tool_call', tool_name: 'experimental__search_models' },
        { type: 'max_tokens_used', max_tokens: 900 },
        { type: 'max_cost', max_cost_in_dollars: 1 },
        { type: 'finish_reason_is', reason: 'length' },
      ],
      turns: 2,
      by: 'has_tool_call',
    },
  ],
  ['max_tool_calls 1', { calls: 1, turns: 1, by: 'max_tool_calls' }],
  ['max_tool_calls 4, where the second turn makes two', { calls: 4, turns: 3, by: 'max_tool_calls' }],
  ['conditions instead of max_tool_calls', { calls: 1, when: [{ type: 'step_count_is', step_count: 3 }], turns: 3, by: 'step_count_is' }],
]

describe.each([true, false])('stop conditions (stream: %s)', (streamed) => {
  it.each(table)('%s', async (_name, { when, calls: budget, turns, by }) => {
    const answer = await askGateway(
      gateway,
      { tools, ...(when === undefined ? {} : { stop_server_tools_when: when }), ...(budget === undefined ? {} : { max_tool_calls: budget }) },
      streamed,
    )
    const requests = upstream.requests.slice(from)
    expect(requests.map(({ body }) => body['tool_choice'] ?? 'auto')).toEqual([...Array<string>(turns).fill('auto'), 'none'])
    expect(answer.gateway_metadata).toMatchObject({ pipeline: [{ data: { stopped_by: by, turns: turns + 1 } }] })
    expect(answer['status']).toBe('completed')
    expect(answer['usage']).toMatchObject({ total_tokens: (turns + 1) * 18, cost: expect.closeTo((turns + 1) * TURN_COST, 9) })
  })
})

it(verifies('H4', 'P46', 'a tool loop allows thirty calls by default, and never more'), async () => {
  const answer = await askGateway(gateway, { tools, max_tool_calls: 99 }, false)
  expect(upstream.requests.slice(from)).toHaveLength(30)
  expect(answer['usage']).toMatchObject({ server_tool_use_details: { tool_calls_requested: 30, tool_calls_executed: 30 } })
})

it(verifies('P46', 'a loop of calls that are refused each time ends like one with repeated results'), async () => {
  const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'gateway:experimental__search_models' }] }
  const always = obedient(calls(['datetime', {}]))
  upstream.script(always)
  const when = [{ type: 'max_cost', max_cost_in_dollars: 1 }]
  const answer = await askGateway(gateway, { tools, tool_choice: choice, stop_server_tools_when: when }, true)
  expect(answer.gateway_metadata).toMatchObject({ pipeline: [{ data: { stopped_by: 'repeated_call', turns: 4, tool_calls_executed: 0 } }] })
})

it('a turn with too many calls runs those that fit the budget, and the model learns so', async () => {
  upstream.script(calls(['datetime', { timezone: 'UTC' }], ['datetime', { timezone: 'Asia/Tokyo' }], ['datetime', {}]))
  const answer = await askGateway(gateway, { tools, max_tool_calls: 2 }, true)
  expect(answer.output.map(({ status }) => status)).toEqual(['completed', 'completed', 'incomplete'])
  const results = (upstream.requests.at(-1)!.body['messages'] as { role: string; content: string }[]).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content.includes('budget'))).toEqual([false, false, true])
})

it('a model that calls although it must not is asked once more without tools, and a second such call is a failure', async () => {
  upstream.script(calls(['datetime', {}]), calls(['datetime', {}]), word)
  const answer = await askGateway(gateway, { tools, max_tool_calls: 1 }, true)
  expect(upstream.requests.slice(from).map(({ body }) => [body['tool_choice'], 'tools' in body])).toEqual([
    [undefined, true],
    ['none', true],
    [undefined, false],
  ])
  expect(answer).toMatchObject({ status: 'completed', output_text: 'done', usage: { total_tokens: 3 * 18 } })

  upstream.script(calls(['datetime', {}]))
  const refused = await gateway.respond({ model: 'acme/small', input: 'hi', tools, max_tool_calls: 0 })
  expect(refused.status).toBe(502)
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining('an empty answer'), metadata: { provider_name: 'Acme 0' } },
  })
})

it('the last turn has no tools where the endpoint has no tool_choice none', async () => {
  const other = await startGateway({
    ...chatConfig([upstream.url]),
    models: [
      { slug: 'acme/small', context_length: 8000, endpoints: [{ provider: 'acme', upstream_model: 'small-1', unsupported: ['tool_choice'] }] },
    ],
  })
  upstream.script(calls(['datetime', {}]), stream([chatEvents.text('done'), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]))
  await askGateway(other, { tools, max_tool_calls: 1 }, false)
  expect(upstream.requests.at(-1)!.body).not.toHaveProperty('tools')
  await other.close()
})

import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Call, Handler } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ServerTool, ToolResult } from '../core/extension.ts'
import type { OutputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage, type Usage } from '../core/usage.ts'
import { systemClock } from '../lib/clock.ts'
import { toolLoopLayer } from './tool-loop.ts'
import type { LoopLimits } from './tool-stop.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { verifies } from '../../e2e/requirements.ts'
import { sequentialIds } from '../testing/deterministic.ts'

/** The loop alone: a model that is a list of turns, tools that are functions. */
type Turn = readonly ModelEvent[]
const usage = createUsage({ inputTokens: 10, outputTokens: 5 })
const end: ModelEvent = { type: 'response-end', reason: 'tool_calls', usage }
const call = (name: string, id: string, args = '{}'): Turn => [
  { type: 'item-start', key: id, item: { type: 'function_call', call_id: id, name, arguments: '' } },
  { type: 'arguments-delta', key: id, delta: args },
  { type: 'item-end', key: id },
]
const words = (text: string): Turn => [
  { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'text-delta', key: 'm', delta: text },
  { type: 'item-end', key: 'm' },
  { type: 'response-end', reason: 'stop', usage },
]

const saysOk = words('ok')

interface Options {
  readonly turns: readonly (Turn | Error)[]
  readonly tool?: Partial<ServerTool> & { readonly run?: (args: unknown, signal: AbortSignal) => Promise<ToolResult> }
  readonly limits?: Partial<LoopLimits>
  readonly request?: Partial<ModelRequest>
  readonly signal?: AbortSignal
  /** It says a word instead of its turn when it is told to call nothing. */
  readonly obeys?: boolean
  /** What each turn costs at an endpoint of its own, USD. */
  readonly prices?: readonly number[]
  readonly inputModalities?: readonly ('text' | 'image')[]
  /** What was counted of turns that failed, at an endpoint where each costs four dollars. */
  readonly counted?: Usage
}

function stage({
  turns,
  tool = {},
  limits,
  request,
  signal = new AbortController().signal,
  obeys = false,
  prices = [],
  inputModalities,
  counted,
}: Options) {
  const requests: ModelRequest[] = []
  const model: Handler = async function* (each) {
    requests.push(each.request)
    const price = prices[requests.length - 1]
    if (price !== undefined) {
      each.trace.served = {
        endpoint: testEndpoint({ pricing: { input: price }, ...(inputModalities === undefined ? {} : { inputModalities }) }),
        status: 200,
        startedAt: 0,
      }
      each.trace.attempts.push(each.trace.served)
    }
    const turn = obeys && each.request.tool_choice === 'none' ? words('ok') : turns[Math.min(requests.length, turns.length) - 1]!
    if (turn instanceof Error) {
      if (counted !== undefined) each.trace.attempts.push({ endpoint: testEndpoint({ pricing: { input: 4 } }), status: 200, startedAt: 0, counted })
      throw turn
    }
    yield turn
  }
  const run = tool.run ?? (async () => ({ output: 'done' }))
  const probe: ServerTool = {
    name: 'probe',
    description: 'A probe.',
    parameters: z.object({ n: z.number().optional() }),
    settings: z.object({}),
    begin: () => ({}),
    execute: (args, { signal: limit }) => run(args, limit),
    ...tool,
  }
  const subject: Call = {
    id: 'gen',
    requestedModel: 'acme/small',
    stream: true,
    signal,
    clock: systemClock,
    random: Math.random,
    receivedAt: 0,
    output: () => [],
    request: { model: 'acme/small', input: [{ type: 'message', role: 'user', content: 'go' }], tools: [{ type: 'gateway:probe' }], ...request },
    owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' },
    origin: { apiType: 'responses' },
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
  }
  const layer = toolLoopLayer({
    tools: () => [probe],
    toolLimits: () => ({ ...limits }),
    catalog: () => ({ find: () => undefined, models: () => [] }),
    defaults: () => ({}),
    costOf: (_usage, { input: total = 0 }) => ({ total, input: 0, output: 0, cacheDiscount: 0, source: 'catalog' }),
    newId: sequentialIds(),
  })
  const collect = async (): Promise<ModelEvent[]> => {
    const all: ModelEvent[] = []
    for await (const events of layer(model)(subject)) all.push(...events)
    return all
  }
  return { collect, requests, trace: subject.trace }
}

const ended = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'item-end' && event.key.startsWith('tool/') ? [event.item?.['status']] : []))

describe('the conversation of the next turn', () => {
  it('holds reasoning with its signature and encrypted content, then the call, then the result', async () => {
    const reasoning: Turn = [
      { type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } as OutputItem },
      { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'I think' },
      { type: 'item-end', key: 'r', item: { encrypted_content: 'blob', signature: 'sig', format: 'some-v1' } },
    ]
    const { collect, requests } = stage({ turns: [[...reasoning, ...call('probe', 'c1', '{"n":1}'), end], words('ok')] })
    await collect()
    expect(requests[1]!.input.slice(1)).toEqual([
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'I think' }],
        encrypted_content: 'blob',
        signature: 'sig',
        format: 'some-v1',
      },
      { type: 'function_call', call_id: 'c1', name: 'probe', arguments: '{"n":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
    ])
  })

  it('keeps the order of the turn: a signature belongs to the call that follows it', async () => {
    const sealed = (key: string): Turn => [
      { type: 'item-start', key, item: { type: 'reasoning', summary: [] } as OutputItem },
      { type: 'item-end', key, item: { encrypted_content: key } },
    ]
    const turn = [...sealed('r1'), ...call('probe', 'c1', '{"n":1}'), ...sealed('r2'), ...call('probe', 'c2', ''), end]
    const { collect, requests } = stage({ turns: [turn, words('ok')] })
    await collect()
    expect(requests[1]!.input.slice(1)).toEqual([
      { type: 'reasoning', summary: [], encrypted_content: 'r1' },
      { type: 'function_call', call_id: 'c1', name: 'probe', arguments: '{"n":1}' },
      { type: 'reasoning', summary: [], encrypted_content: 'r2' },
      { type: 'function_call', call_id: 'c2', name: 'probe', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
      { type: 'function_call_output', call_id: 'c2', output: 'done' },
    ])
  })

  it('adds ids to calls without one', async () => {
    const { collect, requests } = stage({ turns: [[...call('probe', ''), end], words('ok')] })
    await collect()
    const [made, result] = requests[1]!.input.slice(1) as { call_id: string }[]
    expect(made!.call_id).toMatch(/^call_\d{24}$/)
    expect(result!.call_id).toBe(made!.call_id)
  })
})

it.each([
  ['arguments that are wrong', '{"n":"x"}', undefined, true],
  ['arguments that are no JSON', '{"n" 1', undefined, true],
  ['what the tool says will not change', '{}', { output: '', error: { type: 'not_found', message: 'Gone', lasting: true } }, true],
  ['an outage', '{}', { output: '', error: { type: 'provider_unavailable', message: 'Down' } }, undefined],
  ['nothing', '{}', { output: 'done' }, undefined],
] as const)('a call says whether it would fail again: because of %s', async (_what, args, result, lasting) => {
  const { collect } = stage({
    turns: [[...call('probe', 'c1', args), end], words('ok')],
    tool: { run: async () => result ?? { output: 'done' } },
  })
  const events = await collect()
  expect(events.flatMap((event) => (event.type === 'item-end' && event.key.startsWith('tool/') ? [event.lasting] : []))).toEqual([lasting])
})

describe('a search of tools that the caller runs', () => {
  const search = (item: object): Turn => [
    { type: 'item-start', key: 's', item: { type: 'tool_search_call', status: 'in_progress', arguments: {}, ...item } as OutputItem },
    { type: 'item-end', key: 's', item: { status: 'completed', arguments: { query: 'docs' } } },
  ]
  it.each([
    ['as it says', { execution: 'client', call_id: 's' }],
    ['as its call id says', { call_id: 's' }],
  ])('ends the loop, %s: the caller has to answer', async (_, item) => {
    const { collect, requests } = stage({ turns: [[...search(item), ...call('probe', 'c1'), end], words('ok')] })
    const events = await collect()
    expect(requests).toHaveLength(1)
    expect(ended(events)).toEqual(['completed'])
    expect(events.at(-1)).toMatchObject({ type: 'response-end' })
  })
  it('is distinguished from one the provider runs', async () => {
    const { collect, requests } = stage({ turns: [[...search({ execution: 'server', call_id: null }), ...call('probe', 'c1'), end], words('ok')] })
    await collect()
    expect(requests).toHaveLength(2)
  })
})

describe('one answer', () => {
  it('has one start, one end and the usage of all turns', async () => {
    const { collect } = stage({
      turns: [
        [{ type: 'response-start' }, ...call('probe', 'c1'), end],
        [{ type: 'response-start' }, ...words('ok')],
      ],
    })
    const events = await collect()
    expect(events.filter(({ type }) => type === 'response-start')).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'response-end')).toMatchObject([
      { reason: 'stop', usage: { inputTokens: 20, outputTokens: 10, serverToolUse: { tool_calls_requested: 1 } } },
    ])
  })

  it('has the finish reason of its last turn', async () => {
    const stopped = { sequence: 'END' }
    const last: ModelEvent[] = [...words('ok').slice(0, -1), { type: 'response-end', reason: 'stop', stopped, usage }]
    const { collect } = stage({ turns: [[...call('probe', 'c1'), end], last] })
    expect((await collect()).at(-1)).toMatchObject({ type: 'response-end', stopped })
  })

  it('costs what its turns cost, each at the endpoint that served it', async () => {
    const { collect, trace } = stage({ turns: [[...call('probe', 'c1'), end], words('ok')], prices: [0.25, 0.5] })
    await collect()
    expect(trace.attempts.map(({ costUsd }) => costUsd)).toEqual([0.25, 0.5])
    expect(trace.cost).toMatchObject({ total: 0.75 })
  })

  it('ends where a filter stops a later turn before its first word, and pays for what was said', async () => {
    const filter = new GatewayError('content_policy_violation', 'stopped', { source: 'provider', providerCode: 'SAFETY' })
    const said = words('Let me see.').slice(0, -1)
    const { collect, trace } = stage({ turns: [[...said, ...call('probe', 'c1'), end], filter], prices: [0.25] })
    expect((await collect()).at(-1)).toMatchObject({
      type: 'response-end',
      reason: 'content_filter',
      nativeReason: 'SAFETY',
      usage: { inputTokens: 10, outputTokens: 5 },
    })
    expect(trace.attempts.map(({ costUsd }) => costUsd)).toEqual([0.25])
    expect(trace.cost).toMatchObject({ total: 0.25 })
  })

  it('includes the cost of an empty last turn that was requested', async () => {
    const filter = new GatewayError('content_policy_violation', 'stopped', { source: 'provider' })
    const said = words('Let me see.').slice(0, -1)
    const counted = createUsage({ inputTokens: 100 })
    const { collect, trace } = stage({ turns: [[...said, ...call('probe', 'c1'), end], filter], prices: [0.25], counted })
    expect((await collect()).at(-1)).toMatchObject({ reason: 'content_filter', usage: { inputTokens: 110, outputTokens: 5 } })
    expect(trace.attempts.map(({ costUsd }) => costUsd)).toEqual([0.25, 4])
    expect(trace.cost).toMatchObject({ total: 4.25 })
  })

  it('fails where a filter stops it before any word, and where the gateway itself refuses', async () => {
    const filter = new GatewayError('content_policy_violation', 'stopped', { source: 'provider' })
    await expect(stage({ turns: [[...call('probe', 'c1'), end], filter] }).collect()).rejects.toBe(filter)
    const said = words('Let me see.').slice(0, -1)
    const own = new GatewayError('content_policy_violation', 'flagged', { source: 'gateway' })
    await expect(stage({ turns: [[...said, ...call('probe', 'c1'), end], own] }).collect()).rejects.toBe(own)
  })

  it('ends where the model has nothing to add to what its tools did, which is no answer before any has run', async () => {
    const nothing = new GatewayError('provider_unavailable', 'an empty answer', { source: 'provider', providerCode: 'end_turn', wordless: true })
    const { collect, trace } = stage({ turns: [[...call('probe', 'c1'), end], nothing], prices: [0.25] })
    expect((await collect()).at(-1)).toMatchObject({ type: 'response-end', reason: 'stop', nativeReason: 'end_turn', usage: { inputTokens: 10 } })
    expect(trace.cost).toMatchObject({ total: 0.25 })
    await expect(stage({ turns: [nothing] }).collect()).rejects.toBe(nothing)
    const broken = new GatewayError('provider_unavailable', 'an empty body', { source: 'provider' })
    await expect(stage({ turns: [[...call('probe', 'c1'), end], broken] }).collect()).rejects.toBe(broken)
  })

  it('shows images of tools to models with image input, and mentions them to others', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' } as const
    const words = { type: 'input_text', text: 'a dot' } as const
    const outputs = async (inputModalities: readonly ('text' | 'image')[], output: ToolResult['output']): Promise<unknown> => {
      const { collect, requests } = stage({
        turns: [[...call('probe', 'c1'), end], saysOk],
        prices: [1, 1],
        inputModalities,
        tool: { run: async () => ({ output }) },
      })
      await collect()
      return (requests[1]!.input.at(-1) as { output: unknown }).output
    }
    expect(await outputs(['text', 'image'], [words, image])).toEqual([words, image])
    expect(await outputs(['text'], [words, image])).toEqual([words])
    expect(await outputs(['text'], [image])).toBe('[a picture, which this model cannot see]')
    expect(await outputs(['text'], 'plain')).toBe('plain')
  })

  it('records each execution with the id of its item', async () => {
    const { collect, trace } = stage({
      turns: [[...call('probe', 'c1'), ...call('probe', 'c2'), end], words('ok')],
      tool: { run: async () => Promise.reject(new GatewayError('timeout', 'too slow')) },
    })
    const events = await collect()
    const ids = events.flatMap((event) => (event.type === 'item-start' && event.key.startsWith('tool/') ? [event.id] : []))
    expect(trace.steps).toMatchObject(ids.map((itemId) => ({ kind: 'tool', name: 'probe', itemId, errorType: 'timeout', errorMessage: 'too slow' })))
  })
})

describe('a provider that stops in the middle of its own tools', () => {
  const searched: Turn = [
    { type: 'item-start', key: 's', item: { type: 'web_search_call', status: 'in_progress' } },
    { type: 'item-end', key: 's', item: { status: 'completed', encrypted_content: 'E' } },
  ]
  const paused: Turn = [...searched, { type: 'response-end', reason: 'length', nativeReason: 'pause_turn', paused: true, usage }]
  const tools = [{ type: 'code_execution_20250825' }]

  it('is asked to continue from what it has sent, as one answer', async () => {
    const { collect, requests } = stage({ turns: [paused, paused, words('ok')], request: { tools, tool_choice: 'required' } })
    const events = await collect()
    const item = { type: 'web_search_call', status: 'completed', encrypted_content: 'E' }
    expect(requests.map(({ input }) => input.slice(1))).toEqual([[], [item], [item, item]])
    expect(requests.map(({ tool_choice: choice }) => choice)).toEqual(['required', 'auto', 'auto'])
    expect(requests[2]!.tools).toEqual(tools)
    expect(events.flatMap((event) => (event.type === 'item-start' ? [event.key] : []))).toEqual(['s', '2/s', '3/m'])
    expect(events.at(-1)).toMatchObject({ type: 'response-end', reason: 'stop', usage: { inputTokens: 30, outputTokens: 15 } })
    expect(events.filter(({ type }) => type === 'response-end')).toHaveLength(1)
  })

  it('is asked up to ten times, and the answer is then incomplete', async () => {
    const { collect, requests } = stage({ turns: [paused], request: { tools } })
    expect((await collect()).at(-1)).toEqual(expect.objectContaining({ type: 'response-end', reason: 'length', nativeReason: 'pause_turn' }))
    expect(requests).toHaveLength(11)
  })

  it('is not asked where the caller limited tool calls, or has to run a tool first', async () => {
    const most = stage({ turns: [paused], request: { tools, stop_server_tools_when: [{ type: 'max_tokens_used', max_tokens: 20 }] } })
    await most.collect()
    expect(most.requests).toHaveLength(2)
    const theirs = stage({ turns: [[...call('f', 'c1'), ...paused]], request: { tools: [...tools, { type: 'function', name: 'f' }] } })
    await theirs.collect()
    expect(theirs.requests).toHaveLength(1)
  })

  it('has completed its answer if the continuation is empty', async () => {
    const nothing = new GatewayError('provider_unavailable', 'sent an empty answer', { source: 'provider', wordless: true })
    const { collect } = stage({ turns: [paused, nothing], request: { tools } })
    expect((await collect()).at(-1)).toMatchObject({ type: 'response-end', reason: 'stop' })
  })
})

describe('guards', () => {
  it('ends a tool that ignores its abort signal at its time limit', async () => {
    const { collect, requests } = stage({
      turns: [[...call('probe', 'c1'), end], words('ok')],
      tool: { timeoutMs: 20, run: () => new Promise(() => undefined) },
    })
    expect(ended(await collect())).toEqual(['incomplete'])
    expect(JSON.stringify(requests[1]!.input.at(-1))).toContain('took too long')
  })

  it('shows the model nothing of a bug', async () => {
    const { collect, requests } = stage({
      turns: [[...call('probe', 'c1'), end], words('ok')],
      tool: { run: () => Promise.reject(new Error('postgres://user:secret@db')) },
    })
    await collect()
    expect(JSON.stringify(requests[1]!.input)).not.toContain('secret')
  })

  describe('for time', () => {
    /** Timers and the clock of the call move together, and only when they are told to. */
    const onFakeTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    afterEach(() => void vi.useRealTimers())
    const after = (ms: number): Promise<ToolResult> => new Promise((resolve) => setTimeout(() => resolve({ output: String(performance.now()) }), ms))

    it(verifies('H4', 'end the loop when its wall time is over'), async () => {
      onFakeTime()
      const { collect, requests, trace } = stage({
        turns: [[...call('probe', 'c1'), end]],
        obeys: true,
        limits: { wallMs: 250 },
        tool: { run: () => after(40) },
      })
      const [events] = await Promise.all([collect(), vi.advanceTimersByTimeAsync(250)])
      // Six whole calls, and one that the end of the time cuts.
      expect(ended(events)).toEqual([...Array.from({ length: 6 }, () => 'completed'), 'incomplete'])
      expect(requests).toHaveLength(8)
      expect(requests.at(-1)!.tool_choice).toBe('none')
      expect(trace.pipeline[0]!.data).toMatchObject({ stopped_by: 'wall_time' })
    })

    it('count the time of all calls of one turn together: late ones are not started', async () => {
      onFakeTime()
      let begun = 0
      const run = (): Promise<ToolResult> => {
        begun++
        return after(100)
      }
      const calls = Array.from({ length: 5 }, (_, n) => call('probe', `c${n}`)).flat()
      const { collect, requests, trace } = stage({ turns: [[...calls, end]], obeys: true, limits: { wallMs: 250, parallel: 1 }, tool: { run } })
      const pending = collect()
      await vi.advanceTimersByTimeAsync(250)
      expect(requests).toHaveLength(2)
      expect(ended(await pending)).toEqual(['completed', 'completed', 'incomplete', 'incomplete', 'incomplete'])
      expect(begun).toBe(3)
      expect(JSON.stringify(requests[1]!.input.at(-1))).toContain('time of this request for tools is over')
      expect(trace.pipeline[0]!.data).toMatchObject({
        stopped_by: 'wall_time',
        tool_calls_requested: 5,
        tool_calls_executed: 2,
        tool_calls_failed: 1,
      })
    })
  })

  it('runs no more calls at once than allowed', async () => {
    let running = 0
    let most = 0
    const run = async (): Promise<ToolResult> => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      return { output: 'done' }
    }
    const calls = Array.from({ length: 9 }, (_, n) => call('probe', `c${n}`)).flat()
    const { collect } = stage({ turns: [[...calls, end], words('ok')], limits: { parallel: 3 }, tool: { run } })
    expect(ended(await collect())).toHaveLength(9)
    expect(most).toBe(3)
  })

  it('does not count the same call in parallel within one turn as a repetition', async () => {
    const calls = (turn: string): Turn => [...[1, 2, 3, 4].flatMap((n) => call('probe', `${turn}${n}`)), end]
    const { collect, requests, trace } = stage({ turns: [calls('a'), calls('b'), words('ok')] })
    expect(ended(await collect())).toHaveLength(8)
    expect(requests.map(({ tool_choice: choice }) => choice)).toEqual([undefined, undefined, undefined])
    expect(trace.pipeline).toMatchObject([{ data: { tool_calls_executed: 8 } }])
    expect(trace.pipeline[0]!.data).not.toHaveProperty('stopped_by')
  })

  describe('a model that calls a tool although it must not', () => {
    const said = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : []))
    const thought: Turn = [
      { type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } as OutputItem },
      { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'I must know' },
      { type: 'item-end', key: 'r' },
    ]

    it('loses the call, not what it said beside it', async () => {
      const turn = [...words('as I see it').slice(0, -1), ...call('probe', 'c1'), end]
      const { collect, requests } = stage({ turns: [turn], request: { max_tool_calls: 0 } })
      const events = await collect()
      expect(requests).toHaveLength(1)
      expect(said(events)).toEqual(['as I see it'])
      expect(events.at(-1)).toMatchObject({ type: 'response-end', reason: 'stop' })
    })

    it.each([
      ['nothing else', []],
      ['thoughts', thought],
    ])('is asked once more, without tools, when it wrote %s', async (_what, before) => {
      const { collect, requests } = stage({ turns: [[...before, ...call('probe', 'c1'), end], words('ok')], request: { max_tool_calls: 0 } })
      const events = await collect()
      expect(requests.map(({ tools, tool_choice }) => [tools?.length, tool_choice])).toEqual([
        [1, 'none'],
        [undefined, undefined],
      ])
      expect(requests[1]!.input).toEqual(requests[0]!.input)
      expect(said(events)).toEqual(['ok'])
      expect(events.at(-1)).toMatchObject({ reason: 'stop', usage: { inputTokens: 20, outputTokens: 10 } })
    })

    it('fails as an empty answer when it calls again', async () => {
      const { collect, requests, trace } = stage({ turns: [[...call('probe', 'c1'), end]], request: { max_tool_calls: 1 } })
      await expect(collect()).rejects.toMatchObject({ errorType: 'provider_unavailable', details: { source: 'provider' } })
      expect(requests).toHaveLength(3)
      expect(trace.spentUsage).toMatchObject({ inputTokens: 30, outputTokens: 15 })
    })

    it('has its calls ignored where the caller forbids tools from the start', async () => {
      let begun = 0
      const run = async (): Promise<ToolResult> => ({ output: String(++begun) })
      const { collect, requests, trace } = stage({
        turns: [[...call('probe', 'c1'), end], words('ok')],
        request: { tool_choice: 'none' },
        tool: { run },
      })
      expect(said(await collect())).toEqual(['ok'])
      expect(begun).toBe(0)
      expect(requests.map(({ tool_choice: choice }) => choice)).toEqual(['none', undefined])
      expect(trace.pipeline).toEqual([])
    })

    it('runs no call of a tool that is not among the allowed ones, and tells the model', async () => {
      let begun = 0
      const run = async (): Promise<ToolResult> => ({ output: String(++begun) })
      const only = (name: string): Partial<ModelRequest> => ({
        tools: [{ type: 'gateway:probe' }, { type: 'function', name: 'weather' }],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [name === 'weather' ? { type: 'function', name } : { type: `gateway:${name}` }] },
      })
      const turns = [[...call('probe', 'c1'), end], words('ok')]
      const forbidden = stage({ turns, request: only('weather'), tool: { run } })
      expect(said(await forbidden.collect())).toEqual(['ok'])
      expect(begun).toBe(0)
      expect(forbidden.requests[1]!.input.at(-1)).toMatchObject({ call_id: 'c1', output: expect.stringContaining('does not allow this tool') })
      await stage({ turns, request: only('probe'), tool: { run } }).collect()
      expect(begun).toBe(1)
    })

    it('keeps the end of an answer that was cut', async () => {
      const cut: Turn = [...call('probe', 'c1'), { type: 'response-end', reason: 'length', usage }]
      const { collect, requests } = stage({ turns: [cut], request: { max_tool_calls: 0 } })
      expect((await collect()).at(-1)).toMatchObject({ reason: 'length' })
      expect(requests).toHaveLength(1)
    })
  })

  it('stops its tools when the answer is given up in the middle', async () => {
    let stopped = false
    const run = (_args: unknown, signal: AbortSignal): Promise<ToolResult> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true
          reject(new Error('stopped'))
        })
      })
    const gone = new AbortController()
    const { collect } = stage({ turns: [[...call('probe', 'c1'), end]], tool: { run }, signal: gone.signal })
    setTimeout(() => gone.abort(), 10)
    await expect(collect()).rejects.toMatchObject({ message: 'The caller went away' })
    expect(stopped).toBe(true)
  })

  it('then starts no more calls, and records none that was not started', async () => {
    let begun = 0
    const run = (_args: unknown, signal: AbortSignal): Promise<ToolResult> => {
      begun++
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
    }
    const gone = new AbortController()
    const calls = ['c1', 'c2', 'c3', 'c4'].flatMap((id) => call('probe', id))
    const { collect, trace } = stage({ turns: [[...calls, end]], tool: { run }, signal: gone.signal, limits: { parallel: 1 } })
    setTimeout(() => gone.abort(), 10)
    await expect(collect()).rejects.toMatchObject({ message: 'The caller went away' })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([begun, trace.steps?.length]).toEqual([1, 1])
  })

  it.each([
    ['its caller leaves', undefined, 0.5],
    ['the gateway stops', new GatewayError('provider_unavailable', 'The gateway is stopping'), 0],
  ])('pays for a purchase under way only if the call ends because %s', async (_why, reason, cost) => {
    const gone = new AbortController()
    const buy: ServerTool['execute'] = async (_args, { afford }) => {
      await afford(0.5)
      gone.abort(reason)
      return new Promise<never>(() => undefined)
    }
    const { collect, trace } = stage({ turns: [[...call('probe', 'c1'), end]], tool: { execute: buy }, signal: gone.signal })
    await expect(collect()).rejects.toThrow()
    expect(trace.cost?.total).toBe(cost)
  })

  it('accounts for what earlier turns used when a later one fails', async () => {
    const { collect, trace } = stage({ turns: [[...call('probe', 'c1'), end], new GatewayError('provider_unavailable', 'gone')] })
    await expect(collect()).rejects.toMatchObject({ errorType: 'provider_unavailable' })
    expect(trace.spentUsage).toMatchObject({ inputTokens: 10, outputTokens: 5 })
    expect(trace.pipeline).toHaveLength(1)
  })
})

describe('items a server tool left in an earlier answer', () => {
  const user = { type: 'message', role: 'user', content: 'go' } as const
  const left = { type: 'gateway:probe', id: 'p1', status: 'completed', arguments: '{"n":1}', found: 'it' }
  const asFunction = (name: string) => [
    { type: 'function_call', call_id: 'p1', name, arguments: '{"n":1}' },
    { type: 'function_call_output', call_id: 'p1', output: '{"found":"it"}' },
  ]
  it('are calls and results for models, whether or not the tool is offered once more', async () => {
    for (const item of [left, { ...left, type: 'openrouter:probe' }])
      for (const tools of [[{ type: 'gateway:probe' }], []]) {
        const { collect, requests } = stage({ turns: [words('ok')], request: { input: [user, item], tools } })
        await collect()
        expect(requests[0]!.input).toEqual([user, ...asFunction('probe')])
        expect(requests[0]!.tools?.length ?? 0).toBe(tools.length)
      }
  })
  it('are not mistaken for calls of the caller’s own function of that name', async () => {
    const tools = [{ type: 'function', name: 'probe' }] as const
    const { collect, requests } = stage({ turns: [words('ok')], request: { input: [user, left], tools } })
    await collect()
    expect(requests[0]!.input).toEqual([user, ...asFunction('gateway_probe')])
  })
  it.each<[string, Partial<ServerTool>, object, string]>([
    ['what they were asked for', {}, { path: '/a' }, '{"status":"error","path":"/a"}'],
    ['what their tool makes of it', { replay: () => ({ arguments: '{}', output: '{"results":[]}' }) }, {}, '{"status":"error"}'],
    ['their error', { replay: () => ({ arguments: '{}', output: '{"error":"full"}' }) }, { error: 'full' }, '{"error":"full"}'],
  ])('are failures where they failed, with %s', async (_what, tool, fields, output) => {
    for (const status of ['incomplete', 'failed']) {
      const { collect, requests } = stage({
        turns: [words('ok')],
        tool,
        request: { input: [user, { type: 'gateway:probe', id: 'p1', status, ...fields }] },
      })
      await collect()
      expect(requests[0]!.input.at(-1)).toMatchObject({ type: 'function_call_output', output })
    }
  })
  it('are unchanged when the tool is unknown', async () => {
    const item = { type: 'gateway:gone', id: 'p1' }
    const { collect, requests } = stage({ turns: [words('ok')], request: { input: [user, item] } })
    await collect()
    expect(requests[0]!.input).toEqual([user, item])
  })
})

it('passes calls without server tools on as they are', async () => {
  const { collect, requests } = stage({ turns: [words('ok')], request: { tools: [{ type: 'function', name: 'f' }] } })
  await collect()
  expect(requests[0]!.tools).toEqual([{ type: 'function', name: 'f' }])
})

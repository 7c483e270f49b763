import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Call, Handler } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ServerTool } from '../core/extension.ts'
import type { GenerationStep } from '../core/generation.ts'
import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import type { OpenedSource, ToolSource } from '../core/tool-source.ts'
import { createUsage } from '../core/usage.ts'
import { systemClock } from '../lib/clock.ts'
import { sequentialIds } from '../testing/deterministic.ts'
import { toolLoopLayer } from './tool-loop.ts'

/** The loop with entries that stand for functions of others; the source is a function, the model a list of turns. */
const usage = createUsage({ inputTokens: 10, outputTokens: 5 })
type Turn = readonly ModelEvent[]
const calls = (name: string): Turn => [
  { type: 'response-start' },
  { type: 'item-start', key: 'c', item: { type: 'function_call', call_id: 'c1', name, arguments: '' } },
  { type: 'arguments-delta', key: 'c', delta: '{"n":1}' },
  { type: 'item-end', key: 'c' },
  { type: 'response-end', reason: 'tool_calls', usage },
]
const words: Turn = [
  { type: 'response-start' },
  { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'text-delta', key: 'm', delta: 'ok' },
  { type: 'item-end', key: 'm' },
  { type: 'response-end', reason: 'stop', usage },
]
const user: InputItem = { type: 'message', role: 'user', content: 'go' }

interface Scene {
  readonly turns: readonly (Turn | Error)[]
  readonly names?: readonly string[]
  readonly open?: () => Promise<OpenedSource>
  readonly replay?: ToolSource['replay']
  readonly request?: Partial<ModelRequest>
  readonly signal?: AbortSignal
}

function stage({ turns, names = ['one'], open, replay, request, signal = new AbortController().signal }: Scene) {
  const requests: ModelRequest[] = []
  const ran: { readonly name: string; readonly grant: string | undefined }[] = []
  const model: Handler = async function* (call) {
    requests.push(call.request)
    const turn = turns[Math.min(requests.length, turns.length) - 1]!
    if (turn instanceof Error) throw turn
    yield turn
  }
  const tool = (name: string): ServerTool => ({
    name: `far__${name}`,
    knownAs: [name],
    description: name,
    settings: z.unknown(),
    parameters: z.record(z.string(), z.unknown()),
    schema: { type: 'object', properties: { n: { type: 'number' } } },
    begin: () => ({ name }),
    execute: async (_args, { grant }) => {
      ran.push({ name, grant })
      return { output: `from ${name}` }
    },
    end: (result) => ({ ended: result.error?.type ?? 'well' }),
  })
  const source: ToolSource = {
    name: 'far',
    type: 'far',
    itemTypes: new Set(['far_word']),
    settings: z.unknown(),
    check: () => undefined,
    open:
      open ??
      (async () => ({
        functions: names.map((name) => ({ tool: tool(name), itemType: 'far_call', choice: { type: 'far', label: 'l', name } })),
        items: [{ id: 'far_list_1', start: { type: 'far_list' }, events: ['far_list.done'], end: { all: true } }],
      })),
    replay:
      replay ??
      ((input, find) => {
        const name = find({ label: 'l', name: 'one' })
        return {
          input: input.flatMap((item): InputItem[] =>
            item.type === 'far_word'
              ? [
                  { type: 'function_call', call_id: 'due', name: name ?? 'gone', arguments: '{}' },
                  { type: 'function_call_output', call_id: 'due', output: '' },
                ]
              : [item],
          ),
          due: name === undefined ? [] : [{ functionName: name, callId: 'due', arguments: '{}', grant: 'word' }],
        }
      }),
  }
  const call: Call = {
    id: 'gen',
    requestedModel: 'acme/small',
    stream: true,
    signal,
    clock: systemClock,
    random: Math.random,
    receivedAt: 0,
    output: () => [],
    request: { model: 'acme/small', input: [user], tools: [{ type: 'far' }], ...request },
    owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' },
    origin: { apiType: 'responses' },
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
  }
  const layer = toolLoopLayer({
    tools: () => [],
    toolSources: () => [source],
    catalog: () => ({ find: () => undefined, models: () => [] }),
    defaults: () => ({}),
    costOf: () => ({ total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'catalog' }),
    newId: sequentialIds(),
  })
  const collect = async (): Promise<ModelEvent[]> => {
    const all: ModelEvent[] = []
    for await (const events of layer(model)(call)) all.push(...events)
    return all
  }
  return { collect, requests, ran, trace: call.trace, opened: () => source.open(undefined as never, []) }
}

describe('a tool that stands for functions of a remote server', () => {
  it('is opened before the first turn, and its items are sent with the first content of the model', async () => {
    const { collect, requests, ran } = stage({ turns: [calls('far__one'), words] })
    const events = await collect()
    expect(events.slice(0, 4)).toMatchObject([
      { type: 'item-start', id: 'far_list_1', item: { type: 'far_list' } },
      { type: 'item-event', name: 'far_list.done' },
      { type: 'item-end', item: { all: true } },
      { type: 'response-start' },
    ])
    expect(requests[0]!.tools).toMatchObject([{ type: 'function', name: 'far__one', parameters: { properties: { n: { type: 'number' } } } }])
    expect(ran).toEqual([{ name: 'one', grant: undefined }])
    expect(events.find((event) => event.type === 'item-end' && event.key.startsWith('tool/'))).toMatchObject({
      item: { status: 'completed', ended: 'well' },
    })
  })

  it('says in the record of each run, and of its list, where the tool is from', async () => {
    const step: GenerationStep = { kind: 'tool', name: 'label.list', itemId: 'far_list_1', startedAt: 0, durationMs: 1 }
    const { opened } = stage({ turns: [] })
    const { collect, trace } = stage({ turns: [calls('far__one'), words], open: async () => ({ ...(await opened()), step }) })
    await collect()
    expect(trace.steps).toMatchObject([
      { name: 'label.list', source: 'far' },
      { name: 'far__one', source: 'far' },
    ])
  })

  it('has no items when the model fails before any content', async () => {
    const { collect } = stage({ turns: [new Error('gone')] })
    const seen: ModelEvent[] = []
    await expect(collect().then((events) => seen.push(...events))).rejects.toThrow('gone')
    expect(seen).toEqual([])
  })

  it('does not delay a caller who leaves', async () => {
    const leaver = new AbortController()
    const { collect, requests } = stage({ turns: [words], open: () => new Promise(() => undefined), signal: leaver.signal })
    const pending = collect()
    leaver.abort()
    await expect(pending).rejects.toMatchObject({ message: 'The caller went away' })
    expect(requests).toEqual([])
  })
})

describe('a call the caller has approved', () => {
  const input: readonly InputItem[] = [user, { type: 'far_word' }]

  it('runs before the first turn, with its approval', async () => {
    const { collect, requests, ran } = stage({ turns: [words], request: { input } })
    await collect()
    expect(ran).toEqual([{ name: 'one', grant: 'word' }])
    expect(requests[0]!.input.at(-1)).toEqual({ type: 'function_call_output', call_id: 'due', output: 'from one' })
  })

  it('counts against the budget', async () => {
    const { collect, requests, trace } = stage({ turns: [words], request: { input, max_tool_calls: 1 } })
    await collect()
    expect(requests[0]!.tool_choice).toBe('none')
    expect(trace.pipeline[0]!.data).toMatchObject({ tool_calls_requested: 1, stopped_by: 'max_tool_calls' })
  })

  it('is not run without its tool, and the history stays readable', async () => {
    const { collect, requests, ran } = stage({ turns: [words], request: { input, tools: [] } })
    await collect()
    expect(ran).toEqual([])
    expect(requests[0]!.input.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output'])
  })
})

it('functions are not looked through for every item of a long history', async () => {
  const many = 200
  let looks = 0
  const choices = Array.from(
    { length: many },
    (_, n) => new Proxy({ type: 'far', label: 'l', name: `f${n}` }, { get: (choice, field) => (looks++, Reflect.get(choice, field)) }),
  )
  const { tool } = (await stage({ turns: [words] }).opened()).functions[0]!
  const open = async (): Promise<OpenedSource> => ({
    functions: choices.map((choice, n) => ({ tool: { ...tool, name: `far__f${n}` }, itemType: 'far_call', choice })),
    items: [],
  })
  const found: unknown[] = []
  const replay: ToolSource['replay'] = (input, find) => {
    for (let n = 0; n < many; n++) found.push(find({ label: 'l', name: `f${n}` }), find({ label: 'l', name: `g${n}` }))
    found.push(find({ label: 'l', name: null }))
    return { input, due: [] }
  }
  await stage({ turns: [words], open, replay, request: { input: [user, { type: 'far_word' }] } }).collect()
  expect(found).toEqual([...choices.flatMap((_, n) => [`far__f${n}`, undefined]), 'far__f0'])
  expect(looks).toBeLessThan(many * 20)
})

describe('a choice', () => {
  it.each([
    [
      { type: 'far', label: 'l', name: 'one' },
      { type: 'function', name: 'far__one' },
    ],
    [
      { type: 'far', label: 'l' },
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'far__one' },
          { type: 'function', name: 'far__two' },
        ],
      },
    ],
    [{ type: 'far', label: 'other' }, 'auto'],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'far', name: 'two' }] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'far__two' }] },
    ],
  ])('of %j is one of its functions', async (tool_choice, meant) => {
    const { collect, requests } = stage({ turns: [words], names: ['one', 'two'], request: { tool_choice } })
    await collect()
    expect(requests[0]!.tool_choice).toEqual(meant)
  })

  it('of all its functions applies to the first turn only', async () => {
    const { collect, requests } = stage({
      turns: [calls('far__one'), words],
      names: ['one', 'two'],
      request: { tool_choice: { type: 'far', label: 'l' } },
    })
    await collect()
    expect(requests[1]!.tool_choice).toBe('auto')
  })
})

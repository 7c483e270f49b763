import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Call, Handler } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelAnswer, Plugin, PluginEntry } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage, type Usage } from '../core/usage.ts'
import { computeCost } from '../catalog/cost.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { testCall } from '../testing/plugin-context.ts'
import { createPluginRoom } from './plugins.ts'

const endpoint = testEndpoint({ pricing: { input: 1, output: 1, webSearch: 0.5 } })
const usage = createUsage({ inputTokens: 1_000_000, outputTokens: 0 })
const says = (text: string): readonly (readonly ModelEvent[])[] => [
  [{ type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } }],
  [
    { type: 'text-delta', key: 'm', delta: text },
    { type: 'item-end', key: 'm' },
    { type: 'response-end', reason: 'stop', usage },
  ],
]

interface Scene {
  readonly plugins: readonly Partial<Plugin>[]
  readonly defaults?: readonly PluginEntry[]
  readonly request?: Partial<ModelRequest>
  readonly signal?: AbortSignal
  readonly answer?: readonly (readonly ModelEvent[])[]
  /** Whether the caller's own key serves. */
  readonly isByok?: (call: Call) => boolean
  /** In place of the model that says one thing. */
  readonly model?: Handler
  readonly estimate?: () => Usage
}

/** The room alone: plugins that are objects, a model that says one thing. */
function stage({
  plugins,
  defaults = [],
  request,
  signal,
  answer: told = says('hello'),
  isByok = () => false,
  model: given,
  estimate = () => usage,
}: Scene) {
  const seen: Call[] = []
  const talker: Handler = async function* (call) {
    seen.push(call)
    call.trace.served = { endpoint, status: 200, startedAt: 0, firstTokenMs: 1, isByok: isByok(call) }
    yield* told
  }
  const model = given ?? talker
  const list = plugins.map((plugin, n) => ({ id: `plugin-${n}`, settings: z.looseObject({}), ...plugin }))
  const { layer, standing } = createPluginRoom({
    plugins: () => list,
    pluginDefaults: () => defaults,
    catalog: () => testCatalog([endpoint]),
    defaults: () => ({}),
    costOf: computeCost,
    estimateUsage: estimate,
  })
  const call = testCall({
    request: { model: 'acme/small', input: [{ type: 'message', role: 'user', content: 'hi' }], ...request },
    ...(signal === undefined ? {} : { signal }),
  })
  const events: ModelEvent[] = []
  const answer = (): ReturnType<Handler> => layer(model)(call)
  const read = async (): Promise<void> => {
    for await (const batch of answer()) events.push(...batch)
  }
  return { call, seen, events, answer, read, standing }
}

/** Runs a scene whose plugin notes the settings it runs with. */
async function settingsOf(scene: Omit<Scene, 'plugins'> & { readonly plugin?: Partial<Plugin> }): Promise<readonly unknown[]> {
  const ran: unknown[] = []
  const plugin = { id: 'web', prepare: (_: ModelRequest, { settings }: { settings: unknown }) => void ran.push(settings), ...scene.plugin }
  const { read } = stage({ ...scene, plugins: [plugin] })
  await read()
  return ran
}

it('a plugin that limits how long it waits for a model goes on without the answer, and that call ends', async () => {
  const inner: Call[] = []
  const silent: Handler = async function* (call) {
    if (call.request.model !== 'acme/judge') return yield* says('hello')
    inner.push(call)
    await new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason as Error)))
  }
  let told: unknown
  const prepare: Plugin['prepare'] = async (_request, { ask }) => {
    await ask({ model: 'acme/judge', input: [] }, { withinMs: 20 }).catch((error: unknown) => (told = error))
    return undefined
  }
  const { read, events } = stage({ plugins: [{ prepare }], model: silent, request: { plugins: [{ id: 'plugin-0' }] } })
  await read()
  expect(told).toMatchObject({ errorType: 'timeout' })
  expect(inner[0]!.signal.aborted).toBe(true)
  expect(events.at(-1)).toMatchObject({ type: 'response-end', reason: 'stop' })
})

describe('which plugins run, and with which settings', () => {
  const entry = (fields: object = {}): PluginEntry => ({ id: 'web', ...fields })

  it('none when none is named: the call is unchanged', async () => {
    const { read, seen, call } = stage({ plugins: [{ prepare: () => ({ input: [] }) }] })
    await read()
    expect(seen[0]).toBe(call)
  })
  it('those of the request', async () => expect(await settingsOf({ request: { plugins: [entry({ n: 1 })] } })).toEqual([{ n: 1 }]))
  it('those of the defaults', async () => expect(await settingsOf({ defaults: [entry({ n: 1 })] })).toEqual([{ n: 1 }]))
  it('the request over the defaults, field by field', async () => {
    expect(await settingsOf({ defaults: [entry({ n: 1, m: 1 })], request: { plugins: [entry({ n: 2 })] } })).toEqual([{ n: 2, m: 1 }])
  })
  it('no default the request switches off', async () => {
    expect(await settingsOf({ defaults: [entry()], request: { plugins: [entry({ enabled: false })] } })).toEqual([])
  })
  it('no default the operator has switched off, unless the request names it', async () => {
    expect(await settingsOf({ defaults: [entry({ enabled: false, n: 1 })] })).toEqual([])
    expect(await settingsOf({ defaults: [entry({ enabled: false, n: 1 })], request: { plugins: [entry()] } })).toEqual([{ n: 1 }])
  })
  it('a default that prevents overrides as the operator set it, whatever the request says', async () => {
    const locked = [entry({ n: 1, prevent_overrides: true })]
    expect(await settingsOf({ defaults: locked, request: { plugins: [entry({ n: 2 })] } })).toEqual([{ n: 1 }])
    expect(await settingsOf({ defaults: locked, request: { plugins: [entry({ enabled: false })] } })).toEqual([{ n: 1 }])
    const off = [entry({ enabled: false, prevent_overrides: true })]
    expect(await settingsOf({ defaults: off, request: { plugins: [entry()] } })).toEqual([])
    expect(await settingsOf({ defaults: off, request: { model: 'acme/small:online' }, plugin: { suffix: 'online' } })).toEqual([])
  })
  it('one whose suffix a model carries', async () => {
    const plugin = { suffix: 'online' } as const
    expect(await settingsOf({ plugin, request: { model: 'acme/small:online' } })).toEqual([{}])
    expect(await settingsOf({ plugin, request: { models: ['acme/large', 'acme/small:free:online'] } })).toEqual([{}])
    expect(await settingsOf({ plugin, request: { model: 'acme/small:8b' } })).toEqual([])
    expect(await settingsOf({ plugin, request: { model: 'acme/small:online', plugins: [entry({ enabled: false })] } })).toEqual([])
  })
  it('one that finds itself implied', async () => {
    const plugin = { implied: ({ model }: ModelRequest) => model === 'gateway/auto' }
    expect(await settingsOf({ plugin, request: { model: 'gateway/auto' } })).toEqual([{}])
    expect(await settingsOf({ plugin, request: { model: 'acme/small' } })).toEqual([])
  })
  it('refuses settings with one path', async () => {
    const plugin = { settings: z.object({ n: z.int() }) } as never
    await expect(settingsOf({ plugin, request: { plugins: [entry({ n: 'x' })] } })).rejects.toMatchObject({
      errorType: 'invalid_request',
      details: { path: 'plugins[0].n' },
    })
  })
  it('refuses a plugin that is not there', async () => {
    await expect(settingsOf({ request: { plugins: [{ id: 'time-machine' }] } })).rejects.toMatchObject({ errorType: 'invalid_request' })
  })
})

describe('what a plugin may do', () => {
  const use = (...ids: readonly number[]): { readonly plugins: readonly PluginEntry[] } => ({ plugins: ids.map((n) => ({ id: `plugin-${n}` })) })

  it('changes the request, each seeing the changes of those before it, in a fixed order', async () => {
    const add = (text: string) => (request: ModelRequest) => ({ ...request, instructions: `${request.instructions ?? ''}${text}` })
    const { read, seen, call } = stage({ plugins: [{ prepare: add('a') }, { prepare: add('b') }], request: use(1, 0) })
    await read()
    expect(seen[0]?.request.instructions).toBe('ab')
    expect(call.request.instructions).toBeUndefined()
  })

  it('chooses the models, with the strategy and its reasons', async () => {
    const choose = () => ({ models: ['acme/large', 'acme/small'] as const, strategy: 'auto' as const, reasons: { why: 'hard' } })
    const { read, seen, call } = stage({ plugins: [{ choose }], request: use(0) })
    await read()
    expect(seen[0]?.request).toMatchObject({ model: 'acme/large', models: ['acme/small'] })
    expect(seen[0]?.strategy).toBe('auto')
    expect(call.trace.params).toEqual({ why: 'hard' })
  })

  it('refuses the call and leaves its stage', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => {
      report({ stage: { type: 'guardrail', name: 'moderation' } })
      throw new GatewayError('permission_denied', 'flagged')
    }
    const { read, seen, call } = stage({ plugins: [{ prepare }], request: use(0) })
    await expect(read()).rejects.toMatchObject({ errorType: 'permission_denied' })
    expect(seen).toEqual([])
    expect(call.trace.pipeline).toEqual([{ type: 'guardrail', name: 'moderation' }])
  })

  it('checks before any plugin runs', async () => {
    let ran = false
    const check = (): never => {
      throw new GatewayError('invalid_request', 'no')
    }
    const { read } = stage({ plugins: [{ prepare: () => void (ran = true) }, { check }], request: use(0, 1) })
    await expect(read()).rejects.toMatchObject({ errorType: 'invalid_request' })
    expect(ran).toBe(false)
  })

  it('wraps the answer, the first outermost', async () => {
    const wrap = (mark: string) => (next: Handler) =>
      async function* (call: Call) {
        for await (const events of next(call))
          yield events.map((event) => (event.type === 'text-delta' ? { ...event, delta: `${mark}${event.delta}` } : event))
      }
    const { read, events } = stage({ plugins: [{ wrap: wrap('a') }, { wrap: wrap('b') }], request: use(0, 1) })
    await read()
    expect(events.find(({ type }) => type === 'text-delta')).toMatchObject({ delta: 'abhello' })
  })

  it('asks models through the following layers, on the trace of the call', async () => {
    const prepare: Plugin['prepare'] = async (request, { ask }) => {
      const { text } = await ask({ model: 'acme/judge', input: [] })
      return { ...request, instructions: text }
    }
    const { read, seen, call } = stage({ plugins: [{ prepare }], request: use(0) })
    await read()
    expect(seen.map(({ request }) => request.model)).toEqual(['acme/judge', 'acme/small'])
    expect(seen[0]?.trace.parent).toBe(call.trace)
    expect(seen[1]?.request.instructions).toBe('hello')
  })

  it('has its counters in the usage and its price in the cost', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => report({ cost: 0.25, usage: { web_search: 1 } }) as undefined
    const { read, events, call } = stage({ plugins: [{ prepare }], request: use(0) })
    await read()
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 1_000_000, serverToolUse: { web_search: 1 } } })
    expect(call.trace.cost).toMatchObject({ total: 1.25, extras: { 'plugin-0': 0.25 } })
  })

  it('pays for the models it asks, each with the money of whose key served it', async () => {
    const prepare: Plugin['prepare'] = async (_request, { ask }) => {
      await ask({ model: 'acme/judge', input: [] })
      await ask({ model: 'acme/judge', input: [] })
      return undefined
    }
    const { read, events, call } = stage({ plugins: [{ prepare }], request: use(0), isByok: ({ trace }) => trace.parent !== undefined })
    await read()
    expect(call.trace.cost).toMatchObject({ total: 3, byok: 2, extras: { 'plugin-0': 2 } })
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 1_000_000 } })
  })

  it('pays for a model it asks by an estimate, where that model’s provider says nothing of its usage', async () => {
    const model: Handler = async function* ({ trace }) {
      trace.served = { endpoint, status: 200, startedAt: 0, firstTokenMs: 1 }
      if (trace.parent === undefined) yield* says('hello')
      else
        yield* says('x'.repeat(4_000)).map((batch) => batch.map((event) => (event.type === 'response-end' ? { ...event, usage: undefined } : event)))
    }
    const answers: ModelAnswer[] = []
    const prepare: Plugin['prepare'] = async (_request, { ask }) => void answers.push(await ask({ model: 'acme/judge', input: [] }))
    const { read, call } = stage({ plugins: [{ prepare }], request: use(0), model })
    await read()
    expect(answers[0]).toMatchObject({ usage: { outputTokens: 1_000, estimated: true } })
    expect(call.trace.cost?.extras).toEqual({ 'plugin-0': answers[0]!.cost.total })
    expect(answers[0]!.cost.total).toBeCloseTo(answers[0]!.usage.totalTokens / 1_000_000, 9)
  })

  it('costs nothing when it searched for nothing: what the model’s provider takes for its own searches is not charged', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => report({ cost: 0, usage: { web_search: 1 } }) as undefined
    const { read, events, call } = stage({ plugins: [{ prepare }], request: use(0) })
    await read()
    expect(events.at(-1)).toMatchObject({ usage: { serverToolUse: { web_search: 1 } } })
    expect(call.trace.cost).toEqual({ total: 1, input: 1, output: 0, cacheDiscount: 0, source: 'catalog' })
  })

  it('is paid for an answer whose upstream says nothing of its usage, which is estimated from all that was passed on', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => report({ cost: 0.25, usage: { web_search: 1 } }) as undefined
    const seen: ModelEvent[] = []
    const { answer, call } = stage({
      plugins: [{ prepare }],
      request: use(0),
      answer: says('hello').map((batch) => batch.map((event) => (event.type === 'response-end' ? { type: 'response-end', reason: 'stop' } : event))),
      estimate: () => createUsage({ inputTokens: seen.some(({ type }) => type === 'item-end') ? 1_000_000 : 0, estimated: true }),
    })
    for await (const batch of answer()) seen.push(...batch)
    expect(call.trace.cost).toMatchObject({ total: 1.25, extras: { 'plugin-0': 0.25 } })
    expect(seen.map(({ type }) => type)).toEqual(['item-start', 'text-delta', 'item-end', 'response-end'])
    expect(seen.at(-1)).toMatchObject({ usage: { inputTokens: 1_000_000, serverToolUse: { web_search: 1 }, estimated: true } })
  })

  it('is paid for an answer that breaks, too', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => report({ cost: 0.25 }) as undefined
    const wrap = (next: Handler): Handler =>
      async function* (call) {
        for await (const events of next(call)) {
          yield events
          throw new GatewayError('provider_unavailable', 'gone')
        }
      }
    const { read, call } = stage({ plugins: [{ prepare, wrap }], request: use(0) })
    await expect(read()).rejects.toMatchObject({ errorType: 'provider_unavailable' })
    expect(call.trace.cost?.total).toBe(1.25)
  })

  it('is paid for once when the caller reads the end of the answer and nothing after it', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => report({ cost: 0.25 }) as undefined
    const { answer, call } = stage({ plugins: [{ prepare }], request: use(0) })
    for await (const events of answer()) if (events.at(-1)?.type === 'response-end') break
    expect(call.trace.cost?.total).toBe(1.25)
  })

  it('has its sources cited where the answer links them', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) =>
      report({ sources: [{ url: 'https://example.com/a', title: 'A', content: 'about a' }] }) as undefined
    const { read, events } = stage({ plugins: [{ prepare }], request: use(0), answer: says('See [example.com](https://example.com/a).') })
    await read()
    expect(events.find(({ type }) => type === 'annotation')).toMatchObject({
      key: 'm',
      annotation: { type: 'url_citation', url: 'https://example.com/a', title: 'A', start_index: 4, end_index: 40, content: 'about a' },
    })
  })

  it('has one stage, its latest with the price of all, however often it works', async () => {
    const prepare: Plugin['prepare'] = (_request, { report }) => {
      for (const n of [1, 2]) report({ stage: { type: 'plugin', name: 'web-search', data: { n }, cost_usd: n } })
    }
    const { read, call } = stage({ plugins: [{ prepare }], request: use(0) })
    await read()
    expect(call.trace.pipeline).toEqual([{ type: 'plugin', name: 'web-search', data: { n: 2 }, cost_usd: 3 }])
  })

  it('is aborted when its time is over', async () => {
    const { read } = stage({ plugins: [{ timeoutMs: 5, prepare: () => new Promise<never>(() => undefined) }], request: use(0) })
    await expect(read()).rejects.toMatchObject({ errorType: 'timeout' })
  })

  it('has its model requests aborted when it fails', async () => {
    const signals: AbortSignal[] = []
    const judge = (text: string): ModelRequest => ({ model: 'acme/small', input: [{ type: 'message', role: 'user', content: text }] })
    const model: Handler = async function* ({ request, signal }) {
      signals.push(signal)
      if (JSON.stringify(request.input).includes('unreadable')) throw new GatewayError('provider_unavailable', 'no verdict')
      yield await new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    }
    const prepare: Plugin['prepare'] = async (_request, { ask }) => void (await Promise.all([ask(judge('endless')), ask(judge('unreadable'))]))
    const { read } = stage({ plugins: [{ prepare }], request: use(0), model })
    await expect(read()).rejects.toThrow('no verdict')
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })
  it('is aborted when the caller leaves', async () => {
    const gone = new AbortController()
    const prepare = (): Promise<never> => {
      gone.abort(new GatewayError('server', 'The caller went away'))
      return new Promise<never>(() => undefined)
    }
    const { read } = stage({ plugins: [{ prepare }], request: use(0), signal: gone.signal })
    await expect(read()).rejects.toMatchObject({ message: 'The caller went away' })
  })
})

describe('adapting a request to an endpoint', () => {
  const adapts: Plugin['adapts'] = {
    modalities: () => ['file'],
    shortensUpTo: () => 8_192,
    standing: {},
    adapt: (request, { contextLength }) => ({ ...request, instructions: String(contextLength) }),
  }
  const small = testEndpoint({ contextLength: 4_000 })

  it('applies to all calls by default, if the plugin declares it', async () => {
    const { standing, call } = stage({ plugins: [{ adapts }] })
    expect(standing()).toMatchObject({ modalities: ['file'], shortensUpTo: 8_192 })
    expect((await standing()!.adapt(call, call.request, small, false)).instructions).toBe('4000')
  })
  it('applies to no call when the operator switches it off', () => {
    expect(stage({ plugins: [{ adapts }], defaults: [{ id: 'plugin-0', enabled: false }] }).standing()).toBeUndefined()
  })
  it('does not apply to a call that switches it off', async () => {
    const { read, seen } = stage({ plugins: [{ adapts }], request: { plugins: [{ id: 'plugin-0', enabled: false }] } })
    await read()
    expect(seen[0]?.adaptation).toMatchObject({ modalities: [], shortensUpTo: 0 })
  })
  it('still applies to calls with other plugins', async () => {
    const { read, seen } = stage({ plugins: [{ adapts }, { prepare: () => undefined }], request: { plugins: [{ id: 'plugin-1' }] } })
    await read()
    expect(seen[0]?.adaptation).toMatchObject({ modalities: ['file'], shortensUpTo: 8_192 })
  })
  it('is paid for by the call whose tool or plugin asked the model', async () => {
    const buying: Plugin['adapts'] = { ...adapts, adapt: (_request, _endpoint, { report }) => report({ cost: 0.25 }) as undefined }
    const asking: Partial<Plugin> = { prepare: async (request, { ask }) => void (await ask({ input: request.input })) }
    const model: Handler = async function* (call) {
      call.trace.served = { endpoint, status: 200, startedAt: 0, firstTokenMs: 1 }
      if (call.trace.parent !== undefined) await scene.standing()!.adapt(call, call.request, small, false)
      yield* says('hello')
    }
    const scene = stage({ plugins: [{ adapts: buying }, asking], request: { plugins: [{ id: 'plugin-1' }] }, model })
    await scene.read()
    expect(scene.call.trace.cost).toMatchObject({ total: 2.25, extras: { 'plugin-1': 1.25 } })
  })
  it('is done once for a request and an endpoint', async () => {
    let asked = 0
    const counting: Plugin['adapts'] = { ...adapts, adapt: (request) => ({ ...request, instructions: String(++asked) }) }
    const { standing, call } = stage({ plugins: [{ adapts: counting }] })
    const first = await standing()!.adapt(call, call.request, small, false)
    expect(await standing()!.adapt(call, call.request, small, false)).toBe(first)
    expect(asked).toBe(1)
  })
})

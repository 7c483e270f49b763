import { describe, expect, it } from 'vitest'
import type { AnswerCache, KeptAnswer } from '../core/answer-cache.ts'
import type { Call, Handler } from '../core/call.ts'
import type { Catalog, Endpoint } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Generation } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage } from '../core/usage.ts'
import { manualClock } from '../testing/deterministic.ts'
import { answerCacheLayer } from './answer-cache.ts'
import { recordLayer } from './record.ts'

const endpoint = { id: 'e', model: 'acme/small', provider: 'acme', providerName: 'Acme', upstreamModel: 'small', pricing: {} } as Endpoint
const catalog = { find: () => ({ endpoints: [endpoint] }) } as unknown as Catalog
const COUNTED = createUsage({ inputTokens: 100, outputTokens: 1_000 })

/** Answers kept in memory. */
function memory(): AnswerCache {
  const kept = new Map<string, KeptAnswer>()
  return {
    enabled: () => true,
    find: (key) => Promise.resolve(kept.get(key)),
    keep: (key, _workspace, answer) => Promise.resolve(void kept.set(key, answer)),
  }
}

interface Scene {
  readonly request?: Partial<ModelRequest>
  readonly stream?: boolean
  readonly signal?: AbortSignal
  readonly clock?: Call['clock']
  readonly apiType?: Call['origin']['apiType']
}

const callOf = ({ request, stream = false, signal = new AbortController().signal, clock = manualClock(), apiType = 'responses' }: Scene): Call => ({
  id: 'gen',
  requestedModel: 'acme/small',
  stream,
  signal,
  clock,
  random: Math.random,
  receivedAt: 0,
  output: () => [],
  cache: { ttlMs: 1_000, fresh: false },
  request: { model: 'acme/small', input: [], ...request },
  owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' },
  origin: { apiType },
  trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
})

/** Pieces too long to be joined. */
const says = (pieces: number): readonly ModelEvent[] => [
  { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } as never },
  ...Array.from({ length: pieces }, (): ModelEvent => ({ type: 'text-delta', key: 'm', delta: 'x'.repeat(400) })),
  { type: 'item-end', key: 'm' },
  { type: 'response-end', reason: 'stop', usage: COUNTED },
]

const model = (events: readonly ModelEvent[]): Handler =>
  async function* (call) {
    call.trace.served = { endpoint, status: 200, startedAt: 0, firstTokenMs: 1 }
    yield events
  }

async function readAll(answer: ReturnType<Handler>): Promise<readonly ModelEvent[]> {
  const read: ModelEvent[] = []
  for await (const events of answer) read.push(...events)
  return read
}

describe('requests that match a cached answer', () => {
  const statusOf = async (answers: AnswerCache, scene: Scene): Promise<string | undefined> => {
    const call = callOf(scene)
    await readAll(answerCacheLayer({ answers, catalog: () => catalog })(model(says(1)))(call))
    return call.trace.cached?.status
  }
  it('are those with the same content, streamed or not', async () => {
    const answers = memory()
    expect(await statusOf(answers, {})).toBe('miss')
    expect(await statusOf(answers, { stream: true, request: { stream: true, stream_options: { include_obfuscation: false } } })).toBe('hit')
    expect(await statusOf(answers, { request: { temperature: 0 } })).toBe('miss')
  })
  it('are never those of another front door, whose format differs', async () => {
    const answers = memory()
    expect(await statusOf(answers, {})).toBe('miss')
    expect(await statusOf(answers, { apiType: 'messages' })).toBe('miss')
    expect(await statusOf(answers, { apiType: 'messages' })).toBe('hit')
  })
})

describe('an answer that was cut off', () => {
  const cut: ModelEvent = { type: 'response-end', reason: 'length', usage: COUNTED }
  const atLimit = [...says(1).slice(0, -1), cut]
  const kept = async (
    params: { readonly [name: string]: unknown },
    events: readonly ModelEvent[] = atLimit,
    stages: Call['trace']['pipeline'] = [],
  ): Promise<boolean> => {
    const answers = memory()
    const handler = answerCacheLayer({ answers, catalog: () => catalog })((call) => {
      Object.assign(call.trace.params, params)
      call.trace.pipeline.push(...stages)
      return model(events)(call)
    })
    await readAll(handler(callOf({})))
    const again = callOf({})
    await readAll(handler(again))
    return again.trace.cached?.status === 'hit'
  }
  it('at the requested limit is served from the cache', async () => expect(await kept({})).toBe(true))
  it('by the rest of a budget is made again, because the budget may have grown', async () =>
    expect(await kept({ max_output_tokens: 'limited to 7 by what is left of the budget' })).toBe(false))
  it.each([
    ['is made again', 'incomplete', false],
    ['is served from the cache if it is whole', 'completed', true],
  ])('by its provider within a call %s', async (_what, status, served) => {
    const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '' } as never
    const events: ModelEvent[] = [
      { type: 'item-start', key: 'c', item: call },
      { type: 'arguments-delta', key: 'c', delta: '{"city":"Be' },
      { type: 'item-end', key: 'c', item: { status } },
      { type: 'response-end', reason: 'tool_calls', usage: COUNTED },
    ]
    expect(await kept({}, events)).toBe(served)
  })
  it.each([
    ['gateway:web_search', 'incomplete', 'stop', false],
    ['gateway:web_search', 'incomplete', 'length', false],
    ['mcp_call', 'failed', 'stop', false],
    ['mcp_list_tools', undefined, 'stop', false, 'The tools of the MCP server cannot be used'],
    ['web_search_call', 'failed', 'stop', false],
    ['gateway:web_search', 'completed', 'stop', true],
    ['code_interpreter_call', 'failed', 'stop', true],
  ] as const)('by a tool that failed is made again, because it may work again: %s %s, %s', async (type, status, reason, served, error?: string) => {
    const events: ModelEvent[] = [
      { type: 'item-start', key: 't', item: { type, status: 'in_progress' } as never },
      { type: 'item-end', key: 't', item: { status, error } },
      ...says(1).slice(0, -1),
      { type: 'response-end', reason, usage: COUNTED },
    ]
    expect(await kept({}, events)).toBe(served)
  })
  it('by a call that would fail again is served from the cache', async () => {
    const events: ModelEvent[] = [
      { type: 'item-start', key: 't', item: { type: 'gateway:web_fetch', status: 'in_progress' } as never },
      { type: 'item-end', key: 't', item: { status: 'failed', error: 'The page answers with status 404' }, lasting: true },
      ...says(1),
    ]
    expect(await kept({}, events)).toBe(true)
  })
  it.each([
    ['is made again if that was down', { error: 'timeout' }, false],
    ['is served from the cache if it worked', { results: 0 }, true],
  ])('by what a plugin asked %s', async (_what, data, served) => {
    expect(await kept({}, says(1), [{ type: 'plugin', name: 'web-search', data }])).toBe(served)
  })
})

describe('a call that gets a cached answer', () => {
  it('shows the routing of the original call, and its endpoint', async () => {
    const answers = memory()
    const chosen: Handler = (call) => {
      call.trace.strategy = 'auto'
      return model(says(1))(call)
    }
    const trace = async (): Promise<Call['trace']> => {
      const call = callOf({})
      await readAll(answerCacheLayer({ answers, catalog: () => catalog })(chosen)(call))
      return call.trace
    }
    await trace()
    expect(await trace()).toMatchObject({ cached: { status: 'hit' }, strategy: 'auto', candidates: [endpoint], attempts: [] })
  })
})

/** Its work takes a millisecond a look. */
function slowClock(): Call['clock'] {
  let ms = 0
  return { ...manualClock(), monotonic: () => ++ms }
}

describe('a long cached answer', () => {
  const told = (answers: AnswerCache, scene: Scene, onFinished?: (generation: Generation) => void): ReturnType<Handler> => {
    const record = recordLayer({
      sink: { record: ({ generation }) => onFinished?.(generation) } as Parameters<typeof recordLayer>[0]['sink'],
      costOf: () => ({ total: 1, input: 0, output: 1, cacheDiscount: 0, source: 'catalog' }),
      estimateUsage: () => COUNTED,
    })
    return record(answerCacheLayer({ answers, catalog: () => catalog })(model(says(4_000))))(callOf(scene))
  }

  it('yields to other calls, like one that comes from a provider', async () => {
    const answers = memory()
    await readAll(told(answers, {}))
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    expect(await readAll(told(answers, { clock: slowClock() }))).toHaveLength(4_003)
    clearImmediate(timer)
    expect(turns).toBeGreaterThanOrEqual(4)
  })

  it('ends when its caller leaves, at no cost', async () => {
    const answers = memory()
    await readAll(told(answers, {}))
    const gone = new AbortController()
    let record: Generation | undefined
    setImmediate(() => gone.abort())
    const read = readAll(told(answers, { signal: gone.signal, clock: slowClock() }, (finished) => (record = finished)))
    await expect(read).rejects.toThrow()
    expect(record).toMatchObject({ status: 'cancelled', cacheSourceId: 'gen', usage: { totalTokens: 0 }, cost: { total: 0 } })
  })
})

import { describe, expect, it } from 'vitest'
import type { GenerationContent } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, SAMPLE_TIME } from '../testing/sample-generations.ts'
import { braintrust } from './braintrust.ts'

interface Event {
  readonly id: string
  readonly span_id: string
  readonly root_span_id: string
  readonly span_parents?: readonly string[]
  readonly span_attributes: { readonly name: string; readonly type: string }
  readonly input?: unknown
  readonly output?: unknown
  readonly tags?: readonly string[]
  readonly metadata?: { readonly tags?: readonly string[]; readonly model?: unknown; readonly note?: unknown }
  readonly metrics: { readonly [name: string]: number }
}

testDestination(braintrust, {
  config: { apiKey: 'sk-braintrust-secret-1', projectId: '5f1c2d3e-0000-4000-8000-000000000001', baseUrl: 'https://api-eu.braintrust.dev' },
  required: ['apiKey', 'projectId'],
  defaults: { baseUrl: 'https://api.braintrust.dev' },
  invalid: [{ baseUrl: 'api.braintrust.dev' }],
})

describe('Braintrust', () => {
  const eventsOf = async (trace: object): Promise<readonly Event[]> => {
    const { generation, content } = fullGeneration()
    const record = toDeliveryRecord({ ...generation, trace: { ...trace } }, content, {
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    const settings = braintrust.settings.parse({ apiKey: 'k', projectId: 'a/b' })
    const [request] = await braintrust.encode([record], settings, { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 })
    expect(request?.url).toBe('https://api.braintrust.dev/v1/project_logs/a%2Fb/insert')
    return (JSON.parse(String(request?.body)) as { events: Event[] }).events
  }

  it('gets times in seconds and money that overrides its price table', async () => {
    const [generation] = await eventsOf({})
    expect(generation?.metrics).toMatchObject({
      start: SAMPLE_TIME / 1000,
      end: (SAMPLE_TIME + 1500) / 1000,
      prompt_tokens: 1200,
      prompt_cached_tokens: 1000,
      completion_reasoning_tokens: 200,
      estimated_cost: 0.0123,
      time_to_first_token: 0.32,
    })
  })

  it('gets tokens written to a cache by how long they are kept, where that is known', async () => {
    const split = async (usage: object) => {
      const { generation, content } = fullGeneration()
      const record = toDeliveryRecord({ ...generation, usage: { ...generation.usage, ...usage } }, content, {
        privacyMode: false,
        broadcast: { cost: false, identity: false, requestContext: false },
      })
      const settings = braintrust.settings.parse({ apiKey: 'k', projectId: 'p' })
      const [request] = await braintrust.encode([record], settings, { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 })
      const { events } = JSON.parse(String(request?.body)) as { readonly events: readonly Event[] }
      return events.find(({ span_attributes }) => span_attributes.type === 'llm')?.metrics
    }
    expect(await split({ cacheWriteTokens: 100, cacheWrite1hTokens: 40 })).toMatchObject({
      prompt_cache_creation_tokens: 100,
      prompt_cache_creation_5m_tokens: 60,
      prompt_cache_creation_1h_tokens: 40,
    })
    expect(await split({ cacheWrite1hTokens: undefined })).not.toHaveProperty('prompt_cache_creation_1h_tokens')
  })

  it('recognises the root of a trace by its span id, unless the trace is the caller’s; only a root has tags', async () => {
    const [plain] = await eventsOf({})
    expect(plain?.span_id).toBe(plain?.root_span_id)
    const wrapped = await eventsOf({ span_name: 'Outer', tags: ['a'] })
    expect(wrapped.map((event) => event.root_span_id === wrapped[0]?.span_id)).toEqual(wrapped.map(() => true))
    expect(wrapped[1]?.span_parents).toEqual([wrapped[0]?.span_id])
    expect(wrapped.map((event) => event.tags)).toEqual([['a'], undefined, undefined, undefined, undefined])
    const own = await eventsOf({ trace_id: 'order-1', parent_span_id: 'p', tags: ['a'] })
    expect(own.every((event) => event.root_span_id === 'order-1')).toBe(true)
    expect(own[0]?.span_parents).toEqual(['p'])
    expect(own.some((event) => 'tags' in event)).toBe(false)
  })

  it('gets tags in the metadata of the topmost span when that is not the root', async () => {
    const tagsOf = async (trace: object) => (await eventsOf({ ...trace, tags: ['a'] })).map(({ tags, metadata }) => [tags, metadata?.tags])
    const none = [undefined, undefined]
    // A parent without a trace: the span is the root of its own trace.
    expect(await tagsOf({ parent_span_id: 'p' })).toEqual([[['a'], undefined], none, none, none])
    const own = { trace_id: 'order-1', parent_span_id: 'p' }
    expect(await tagsOf(own)).toEqual([[undefined, ['a']], none, none, none])
    expect(await tagsOf({ ...own, span_name: 'Outer' })).toEqual([[undefined, ['a']], none, none, none, none])
  })

  it('gets a root span for a trace of the caller without one: the platform shows tags, input and output of a trace from there', async () => {
    const named = { trace_id: 'order-1', trace_name: 'Checkout', generation_name: 'Draft', tags: ['a'] }
    const [root, top, ...below] = await eventsOf(named)
    expect(root).toMatchObject({ id: 'order-1', span_id: 'order-1', root_span_id: 'order-1', _is_merge: true, tags: ['a'] })
    expect(root).toMatchObject({ span_attributes: { name: 'Checkout', type: 'task' }, input: top?.input, output: top?.output })
    expect(root).not.toHaveProperty('span_parents')
    expect(root?.metrics).not.toHaveProperty('tokens')
    expect(top).toMatchObject({ root_span_id: 'order-1', span_parents: ['order-1'], span_attributes: { name: 'Draft', type: 'llm' } })
    expect(below.every((event) => event.root_span_id === 'order-1' && event.span_parents?.[0] === top?.span_id)).toBe(true)
    const [outer, wrapper, inner] = await eventsOf({ ...named, span_name: 'Outer' })
    expect([outer?.span_id, wrapper?.span_parents, inner?.span_parents]).toEqual(['order-1', ['order-1'], [wrapper?.span_id]])
  })

  it('writes no root over the generation whose id the caller has made the trace’s', async () => {
    const [top, ...below] = await eventsOf({ trace_id: 'gen-1768472000-Z1b2C3d4E5f6G7h8I9j0', generation_name: 'Draft', tags: ['a'] })
    expect(top).toMatchObject({ id: 'gen-1768473000-A1b2C3d4E5f6G7h8I9j0', span_parents: [top?.root_span_id], metadata: { tags: ['a'] } })
    expect([top, ...below].map((event) => event?.root_span_id)).toEqual([top, ...below].map(() => 'gen-1768472000-Z1b2C3d4E5f6G7h8I9j0'))
  })

  describe('the root span for all generations of a trace in a batch', () => {
    const rootsOf = async (...generations: readonly { id: string; trace: object; content?: GenerationContent | undefined; startedAt?: number }[]) => {
      const { generation, content } = fullGeneration()
      const records = generations.map(({ content: said = content, ...changes }) =>
        toDeliveryRecord({ ...generation, ...changes, trace: { ...changes.trace } }, said.input.length === 0 ? undefined : said, {
          privacyMode: false,
          broadcast: { cost: false, identity: false, requestContext: false },
        }),
      )
      const settings = braintrust.settings.parse({ apiKey: 'k', projectId: 'p' })
      const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
      const [request] = await braintrust.encode(records, settings, context)
      const { events } = JSON.parse(String(request?.body)) as { events: Event[] }
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
      return events.filter((event) => '_is_merge' in event)
    }

    it('is written once, with the values of the last generation', async () => {
      const roots = await rootsOf(
        { id: 'gen-a', trace: { trace_id: 'order-1', note: 'a' } },
        { id: 'gen-b', trace: { trace_id: 'order-1', note: 'b' } },
        { id: 'gen-c', trace: { trace_id: 'order-2', note: 'c' } },
      )
      expect(roots.map((event) => [event.id, event.metadata?.note])).toEqual([
        ['order-1', 'b'],
        ['order-2', 'c'],
      ])
    })

    it('keeps values that the last generation does not have, as from batch to batch', async () => {
      const [root, ...others] = await rootsOf(
        { id: 'gen-a', trace: { trace_id: 'order-1', tags: ['a'], note: 'a' } },
        { id: 'gen-b', trace: { trace_id: 'order-1' }, startedAt: SAMPLE_TIME + 1_000, content: { input: [], output: [] } },
      )
      expect(others).toEqual([])
      expect(root).toMatchObject({ tags: ['a'], metadata: { note: 'a' }, input: expect.anything(), output: expect.anything() })
      expect(root?.metrics.start).toBe(SAMPLE_TIME / 1000)
    })
  })

  it('gets a model only as text: anything else is refused with the whole request', async () => {
    const modelsOf = async (model: unknown) => {
      const events = await eventsOf({ span_name: 'Outer', model })
      return events.slice(0, 2).map(({ metadata }) => metadata?.model)
    }
    expect(await modelsOf({ family: 'small' })).toEqual(['{"family":"small"}', 'acme/small'])
    expect(await modelsOf(7)).toEqual(['7', 'acme/small'])
    expect(await modelsOf('mine')).toEqual(['mine', 'acme/small'])
  })

  it('counts tokens once: only the generation has them', async () => {
    const events = await eventsOf({ span_name: 'Outer' })
    expect(events.filter((event) => 'tokens' in event.metrics).map((event) => event.span_attributes.type)).toEqual(['llm'])
  })
})

import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, SAMPLE_TIME } from '../testing/sample-generations.ts'
import { braintrust } from './braintrust.ts'

interface Event {
  readonly id: string
  readonly span_id: string
  readonly root_span_id: string
  readonly span_parents?: readonly string[]
  readonly span_attributes: { readonly type: string }
  readonly tags?: readonly string[]
  readonly metadata?: { readonly tags?: readonly string[]; readonly model?: unknown }
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
    // A parent without a trace: the span is the root of its own.
    expect(await tagsOf({ parent_span_id: 'p' })).toEqual([[['a'], undefined], none, none, none])
    expect(await tagsOf({ trace_id: 'order-1' })).toEqual([[undefined, ['a']], none, none, none])
    expect(await tagsOf({ trace_id: 'order-1', span_name: 'Outer' })).toEqual([[undefined, ['a']], none, none, none, none])
  })

  it('gets no model but a text: anything else is refused with the whole request', async () => {
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

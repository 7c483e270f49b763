import { describe, expect, it } from 'vitest'
import type { FinishedGeneration } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { raindrop } from './raindrop.ts'

interface Event {
  readonly event_id: string
  readonly user_id: string
  readonly properties: { readonly [name: string]: unknown }
  readonly ai_data?: { readonly input?: string; readonly output?: string; readonly convo_id?: string }
}

testDestination(raindrop, {
  config: { writeKey: 'rd-secret-write-key-1', project: 'support' },
  required: ['writeKey'],
  defaults: { baseUrl: 'https://api.raindrop.ai' },
  invalid: [{ project: 'Support' }, { project: 'my project' }, { project: '-support' }, { project: 'a'.repeat(64) }],
  inspect: (requests) => {
    expect(requests.map(({ url }) => url)).toEqual(['https://api.raindrop.ai/v1/events/track', 'https://api.raindrop.ai/v1/traces'])
    for (const { headers } of requests)
      expect(headers).toMatchObject({ authorization: 'Bearer rd-secret-write-key-1', 'x-raindrop-project-id': 'support' })
    // Every span belongs to the event.
    const spans = JSON.stringify(decodeOtlpRequest(requests[1]?.body as Buffer))
    expect(spans.match(/"traceloop\.association\.properties\.event_id"/g)).toHaveLength(5)
  },
})

const CONTEXT = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }

describe('Raindrop', () => {
  const encode = (sample: FinishedGeneration, privacyMode = false, config: object = {}) => {
    const record = toDeliveryRecord(sample.generation, sample.content, {
      privacyMode,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    return raindrop.encode([record], raindrop.settings.parse({ writeKey: 'k', ...config }), CONTEXT)
  }
  const eventOf = async (sample: FinishedGeneration, privacyMode?: boolean): Promise<Event> =>
    (JSON.parse(String((await encode(sample, privacyMode))[0]?.body)) as Event[])[0]!

  it('gets an event with what was asked last, what was answered, and the numbers', async () => {
    const { generation, content } = fullGeneration()
    expect(await eventOf({ generation, content })).toMatchObject({
      event_id: generation.id,
      user_id: 'customer-5',
      timestamp: '2026-01-15T10:30:00.250Z',
      properties: {
        trace_id: 'order-123',
        trace_name: 'Checkout',
        team: 'search',
        prompt_tokens: 1200,
        completion_tokens: 345,
        total_cost: 0.0123,
        duration_ms: 1500,
        finish_reason: 'tool_calls',
      },
      ai_data: {
        model: 'acme/small',
        input: expect.stringContaining('What is in the picture?'),
        output: expect.stringContaining('A cat.'),
        convo_id: 'session-9',
      },
    })
  })

  it('gets neither in privacy mode, and no event it would refuse for having neither', async () => {
    const { properties, ...event } = await eventOf(fullGeneration(), true)
    expect(event).not.toHaveProperty('ai_data')
    expect(properties).toMatchObject({ model: 'acme/small', convo_id: 'session-9', total_tokens: 1545 })
    const { generation } = minimalGeneration()
    expect(await eventOf({ generation, content: { input: [], output: [] } })).not.toHaveProperty('ai_data')
  })

  it('always gets a user: the session or the trace where the caller names none', async () => {
    const { generation, content } = fullGeneration()
    const { externalUser: _user, ...nobody } = generation
    expect((await eventOf({ generation: nobody, content })).user_id).toBe('session-9')
    const { sessionId: _session, ...nothing } = nobody
    expect((await eventOf({ generation: nothing, content })).user_id).toBe('order-123')
  })

  it('gets the error of a failed call', async () => {
    const { generation, content } = failedGeneration()
    expect((await eventOf({ generation, content })).properties).toMatchObject({ error_type: generation.errorType })
  })

  it('is tested for taking events, too: a relay for spans alone would lose every generation', () => {
    const steps = raindrop.probe(raindrop.settings.parse({ writeKey: 'k', baseUrl: 'https://relay.example.com' }), CONTEXT)
    const [, events] = steps
    expect(events?.request).toMatchObject({ method: 'POST', url: 'https://relay.example.com/v1/events/track', body: '[]' })
    const answered = (status: number) => events?.check?.({ status, headers: {}, body: Buffer.alloc(0) })
    // Its answer to an empty batch does not matter.
    for (const status of [204, 400, 422]) expect(answered(status)).toBeUndefined()
    for (const status of [301, 401, 403, 404, 405]) expect(answered(status)).toBe(`events are not taken here: HTTP ${status}`)
  })

  it('takes HTTP 500 for an outage where it takes events: what gives up on it is the rule of OTLP', async () => {
    const [track, traces] = await encode(minimalGeneration())
    const answer = { status: 500, headers: {}, body: Buffer.alloc(0) }
    expect(raindrop.classify?.(answer, track!)).not.toHaveProperty('maxAttempts')
    expect(raindrop.classify?.(answer, traces!)).toMatchObject({ kind: 'retry', maxAttempts: 10 })
  })

  it.each(['https://r.example.com/in', 'https://r.example.com/in/', 'https://r.example.com/in/v1', 'https://r.example.com/in/v1/traces'])(
    'is found below %s',
    async (baseUrl) => {
      const urls = (await encode(minimalGeneration(), false, { baseUrl })).map(({ url }) => url)
      expect(urls).toEqual(['https://r.example.com/in/v1/events/track', 'https://r.example.com/in/v1/traces'])
    },
  )
})

import { describe, expect, it } from 'vitest'
import type { OutgoingResponse } from '../core/destination.ts'
import type { Generation } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { sendBatch } from '../delivery/send-batch.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { posthog } from './posthog.ts'

interface Captured {
  readonly event: string
  readonly distinct_id: string
  readonly uuid: string
  readonly properties: { readonly [name: string]: unknown }
}

testDestination(posthog, {
  config: { apiKey: 'phc_secret_project_1', endpoint: 'https://eu.i.posthog.com' },
  required: ['apiKey'],
  defaults: { endpoint: 'https://us.i.posthog.com' },
  secretInBody: true,
  classification: [
    [200, '{"status":1}', 'delivered'],
    [200, '{"status":"Ok","quota_limited":["recordings"]}', 'delivered'],
    [200, '{"status":"Ok","quota_limited":["events"]}', 'unauthorized'],
    [200, '{"status":"Ok","quota_limited":["recordings","llm_events"]}', 'unauthorized'],
  ],
})

describe('PostHog', () => {
  const capture = async (changes: Partial<Generation>): Promise<readonly Captured[]> => {
    const { generation, content } = fullGeneration()
    const record = toDeliveryRecord({ ...generation, ...changes }, content, {
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    const [request] = await posthog.encode([record], posthog.settings.parse({ apiKey: 'k' }), context)
    return (JSON.parse(String(request?.body)) as { batch: Captured[] }).batch
  }

  it('gets the information that input tokens include cached ones, which it would guess from the model name', async () => {
    const [, event] = await capture({})
    expect(event).toMatchObject({
      event: '$ai_generation',
      properties: { $ai_input_tokens: 1200, $ai_cache_read_input_tokens: 1000, $ai_cache_reporting_exclusive: false },
    })
  })

  it('has metadata on attempts and tools too, unless the copies would fill the request', async () => {
    const [attempt] = fullGeneration().generation.attempts
    const [tool] = fullGeneration().generation.steps!
    const agent = {
      attempts: Array.from({ length: 60 }, () => attempt!),
      steps: Array.from({ length: 100 }, (_, i) => ({ ...tool!, itemId: `call-${i}` })),
    }
    const few = await capture({ trace: { team: 'blue' } })
    expect(few.map(({ properties }) => properties['metadata_team'])).toEqual(few.map(() => 'blue'))
    const notes = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`note_${i}`, 'about forty characters of some context here']))
    const many = await capture({ ...agent, trace: { team: 'blue', ...notes } })
    expect(many.length).toBeGreaterThan(150)
    expect(many.filter(({ properties }) => properties['metadata_team'] === 'blue').map(({ event }) => event)).toEqual(['$ai_generation'])
    expect(JSON.stringify(many).length).toBeLessThan(posthog.limits.bytes / 2)
  })

  it('always gets a person: the user, else the session, else the trace, and no profile for the latter two', async () => {
    const [user] = await capture({ externalUser: 'customer-5' })
    expect(user).toMatchObject({ distinct_id: 'customer-5' })
    expect(user?.properties).not.toHaveProperty('$process_person_profile')
    const [session] = await capture({ externalUser: '  ', sessionId: 's-1' })
    expect(session).toMatchObject({ distinct_id: 's-1', properties: { $process_person_profile: false } })
    const { sessionId: _s, externalUser: _u, ...nobody } = fullGeneration().generation
    const { generation, content } = { generation: { ...nobody, trace: {} }, content: fullGeneration().content }
    const record = toDeliveryRecord(generation, content, { privacyMode: true, broadcast: { cost: false, identity: false, requestContext: false } })
    const [request] = await posthog.encode([record], posthog.settings.parse({ apiKey: 'k' }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })
    const [trace] = (JSON.parse(String(request?.body)) as { batch: Captured[] }).batch
    expect(trace?.distinct_id).toBe(generation.id)
  })

  it('gets ids of persons no longer than it takes, without half a character', async () => {
    const [event] = await capture({ externalUser: `u${'\u{1f600}'.repeat(127)}` })
    expect(event?.distinct_id).toBe(`u${'\u{1f600}'.repeat(99)}`)
  })

  it('gets a uuid per event that never changes', async () => {
    const once = await capture({})
    const again = await capture({})
    expect(again.map(({ uuid }) => uuid)).toEqual(once.map(({ uuid }) => uuid))
    expect(new Set(once.map(({ uuid }) => uuid)).size).toBe(once.length)
  })

  it('gets trace ids of the characters it keeps, and values no deeper than three levels', async () => {
    const [event] = await capture({ trace: { trace_id: 'order #1/ä', deep: { a: { b: { c: { d: 1 } } } } } })
    const traceId = event?.properties['$ai_trace_id']
    expect(traceId).toMatch(/^order__1___[0-9a-f]{16}$/)
    const [nested, child] = await capture({ trace: { trace_id: 'order #1/ä', parent_span_id: 'order #1/ä' } })
    expect(nested?.properties).toMatchObject({ $ai_trace_id: traceId, $ai_parent_id: traceId })
    expect(child?.properties['$ai_parent_id']).toBe(nested?.properties['$ai_span_id'])
    expect(event?.properties['metadata_deep']).toEqual({ a: { b: { c: '[truncated]' } } })
  })

  it('gets different ids for traces whose ids differ only in replaced characters', async () => {
    const ids = await Promise.all(
      ['注文', '返品', '__', 'a#1', 'a/1', 'a_1'].map(async (trace_id) => (await capture({ trace: { trace_id } }))[0]?.properties['$ai_trace_id']),
    )
    expect(new Set(ids).size).toBe(ids.length)
    expect([ids[2], ids[5]]).toEqual(['__', 'a_1'])
  })

  it('is sent no event larger than it keeps: those are discarded after they were accepted', async () => {
    const { generation, content } = fullGeneration()
    const long = { ...content, input: [{ type: 'message' as const, role: 'user' as const, content: 'word "quoted" '.repeat(150_000) }] }
    const sent: Captured[] = []
    const { results } = await sendBatch({
      type: posthog,
      settings: posthog.settings.parse({ apiKey: 'k' }),
      context: { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 },
      records: [long, content].map((each, i) =>
        toDeliveryRecord({ ...generation, id: `gen-${i}`, trace: { span_name: 'Outer' } }, each, {
          privacyMode: false,
          broadcast: { cost: false, identity: false, requestContext: false },
        }),
      ),
      transport: (request) => {
        sent.push(...(JSON.parse(String(request.body)) as { batch: Captured[] }).batch)
        return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{"status":1}') })
      },
      signal: new AbortController().signal,
      beforeRequest: () => Promise.resolve(),
      now: () => 0,
    })
    expect(results).toEqual([{ kind: 'delivered' }, { kind: 'delivered' }])
    // The platform's queue holds the event as JSON inside JSON.
    for (const event of sent) expect(Buffer.byteLength(JSON.stringify(JSON.stringify(event)))).toBeLessThan(1_000_000)
    expect(sent.filter(({ event }) => event === '$ai_generation').map(({ properties }) => properties['$ai_input_tokens'])).toEqual([1200, 1200])
  })

  it('gets seconds', async () => {
    const [event] = await capture({ trace: {} })
    expect(event?.properties).toMatchObject({ $ai_latency: 1.5, $ai_time_to_first_token: 0.32, $ai_model: 'acme/small', $ai_provider: 'beta' })
  })

  it('does not look up where the gateway is, which would become the place of the user', async () => {
    for (const { properties } of await capture({ externalUser: 'customer-5' })) expect(properties).toMatchObject({ $geoip_disable: true })
  })

  it('is not sent an attempt that says no more than its generation', async () => {
    const names = (events: readonly Captured[]): unknown[] => events.map(({ properties }) => properties['$ai_span_name'])
    expect(names(await capture({ trace: {}, attempts: fullGeneration().generation.attempts.slice(1) }))).toEqual(['LLM Generation', 'tool: datetime'])
    expect(names(await capture({ trace: {} }))).toHaveLength(4)
  })

  it('says nothing of quotas that are not used up', () => {
    for (const body of ['{"quota_limited":[]}', '{"quota_limited":"no"}', '[]'])
      expect(
        posthog.classify?.({ status: 200, headers: {}, body: Buffer.from(body) }, { method: 'POST', url: 'https://e.com', headers: {} }),
      ).toEqual({
        kind: 'delivered',
      })
  })

  const answer = (quotas: readonly string[]): OutgoingResponse => ({
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ status: 1, quota_limited: quotas })),
  })

  it('keeps generations while a quota is used up that they count against, because the platform stores none of them', () => {
    for (const quota of ['events', 'llm_events'])
      expect(posthog.classify?.(answer([quota]), { method: 'POST', url: 'https://e.com', headers: {} })).toEqual({
        kind: 'unauthorized',
        message: `over quota: ${quota}`,
      })
  })

  it('reports a used-up quota of something else', () => {
    expect(posthog.classify?.(answer(['recordings']), { method: 'POST', url: 'https://e.com', headers: {} })).toEqual({
      kind: 'delivered',
      message: 'over quota: recordings',
    })
  })
})

import { describe, expect, it } from 'vitest'
import type { Generation } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, minimalGeneration, SAMPLE_TIME } from '../testing/sample-generations.ts'
import { opik } from './opik.ts'

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
const NONE = { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } }

const uuid7At = (time: number): string =>
  time
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-') + '-7abc-8def-000000000001'

interface Item {
  readonly id: string
  readonly trace_id: string
  readonly parent_span_id?: string
  readonly type?: string
  readonly usage?: { readonly [name: string]: number }
  readonly input?: unknown
  readonly output?: unknown
}

testDestination(opik, {
  config: { apiKey: 'opik-secret-key-1', workspace: 'team', projectName: 'Chat' },
  required: ['apiKey', 'workspace', 'projectName'],
  defaults: {},
  context: { baseUrl: 'https://opik.example.com/api' },
  inspect: (requests) => {
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(['/api/v1/private/traces/batch', '/api/v1/private/spans/batch'])
    expect(requests[0]?.headers['authorization']).toBe('opik-secret-key-1')
  },
})

describe('Opik', () => {
  const encode = async (...generations: readonly Generation[]): Promise<{ readonly traces: readonly Item[]; readonly spans: readonly Item[] }> => {
    const { content } = fullGeneration()
    const settings = opik.settings.parse({ apiKey: 'k', workspace: 'w', projectName: 'p' })
    const requests = await opik.encode(
      generations.map((generation) => toDeliveryRecord(generation, content, NONE)),
      settings,
      context,
    )
    const bodies = requests.map(({ body }) => JSON.parse(String(body)) as { traces?: Item[]; spans?: Item[] })
    return { traces: bodies.flatMap((body) => body.traces ?? []), spans: bodies.flatMap((body) => body.spans ?? []) }
  }
  const full = (trace: object, startedAt = SAMPLE_TIME): Generation => ({ ...fullGeneration().generation, trace: { ...trace }, startedAt })

  it('gets UUIDs of version 7 only, dated by the event', async () => {
    const { traces, spans } = await encode(full({ span_name: 'Outer' }), full({ trace_id: 'order-1', parent_span_id: 'not-a-uuid' }))
    const ids = [...traces.map(({ id }) => id), ...spans.flatMap(({ id, trace_id, parent_span_id }) => [id, trace_id, parent_span_id ?? id])]
    for (const id of ids) expect(id).toMatch(UUID7)
    expect(parseInt((traces[0]?.id ?? '').replace('-', '').slice(0, 12), 16)).toBe(SAMPLE_TIME)
    for (const span of spans) expect(traces.map(({ id }) => id)).toContain(span.trace_id)
  })

  it('keeps generations of one trace together, whenever they began', async () => {
    const { traces } = await encode(full({ trace_id: 'order-1' }), full({ trace_id: 'order-1' }, SAMPLE_TIME + 60_000))
    expect(traces[1]?.id).toBe(traces[0]?.id)
    const own = uuid7At(SAMPLE_TIME - 60_000)
    expect((await encode(full({ trace_id: own.toUpperCase() }))).traces[0]?.id).toBe(own)
  })

  it('keeps ids of the caller only if their time is one the platform takes', async () => {
    const hours = (count: number): string => uuid7At(SAMPLE_TIME + count * 3_600_000)
    const kept = async (id: string) => {
      const { traces, spans } = await encode(full({ trace_id: id, parent_span_id: id }))
      expect(spans.every(({ trace_id }) => trace_id === traces[0]?.id)).toBe(true)
      return [traces[0]?.id === id, spans[0]?.parent_span_id]
    }
    for (const id of [hours(-23), hours(23)]) expect(await kept(id)).toEqual([true, id])
    for (const id of [hours(-24), hours(24), hours(-8760)]) expect(await kept(id)).toEqual([false, undefined])
    const old = hours(-8760)
    const { traces } = await encode(full({ trace_id: old }), full({ trace_id: old }, SAMPLE_TIME + 60_000))
    expect(traces[0]?.id).toMatch(UUID7)
    expect(traces[1]?.id).toBe(traces[0]?.id)
  })

  it('gets what was said in the form its lists and conversations read, on the trace as on its spans', async () => {
    const { traces, spans } = await encode(full({ span_name: 'Outer' }))
    for (const { input, output } of [traces[0]!, ...spans.slice(0, 2)]) {
      expect(input).toMatchObject({ messages: expect.arrayContaining([expect.objectContaining({ role: 'user' })]) })
      expect(output).toMatchObject({ choices: [{ message: { role: 'assistant', content: expect.stringContaining('A cat.') } }] })
    }
  })

  it('gets whole numbers as usage', async () => {
    const { spans } = await encode(full({}))
    const usage = spans.find(({ type }) => type === 'llm')?.usage
    expect(usage).toEqual({
      prompt_tokens: 1200,
      completion_tokens: 345,
      total_tokens: 1545,
      cached_tokens: 1000,
      cache_creation_tokens: 100,
      reasoning_tokens: 200,
    })
  })

  it('gets at most a thousand items in a request', async () => {
    const { generation } = minimalGeneration()
    const attempts = Array.from({ length: 30 }, (_, i) => ({ ...fullGeneration().generation.attempts[0]!, startedAt: SAMPLE_TIME + i }))
    const records = Array.from({ length: 200 }, (_, i) => toDeliveryRecord({ ...generation, id: `gen-${i}`, attempts }, undefined, NONE))
    const requests = await opik.encode(records, opik.settings.parse({ apiKey: 'k', workspace: 'w', projectName: 'p' }), context)
    const sizes = requests.slice(1).map(({ body }) => (JSON.parse(String(body)) as { spans: object[] }).spans.length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000)
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(200 * 31)
    expect(requests.slice(1).flatMap(({ records: carried }) => carried)).toEqual(records.map((_, i) => i))
  })
})

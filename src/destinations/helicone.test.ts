import { describe, expect, it } from 'vitest'
import type { OutgoingRequest } from '../core/destination.ts'
import type { Generation } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { failedGeneration, fullGeneration, SAMPLE_TIME } from '../testing/sample-generations.ts'
import { helicone } from './helicone.ts'

testDestination(helicone, {
  config: { apiKey: 'sk-helicone-secret-1', baseUrl: 'https://eu.api.helicone.ai' },
  required: ['apiKey'],
  defaults: { baseUrl: 'https://api.worker.helicone.ai' },
  inspect: (requests) => expect(requests.map(({ records }) => records)).toEqual([[0]]),
})

interface LogBody {
  readonly providerRequest: { readonly json: { readonly [name: string]: unknown }; readonly meta: Record<string, string> }
}

describe('Helicone', () => {
  const log = async (changes: Partial<Generation>, sample = fullGeneration()): Promise<OutgoingRequest> => {
    const record = toDeliveryRecord({ ...sample.generation, ...changes }, sample.content, {
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    return (await helicone.encode([record], helicone.settings.parse({ apiKey: 'k' }), context))[0]!
  }

  it('gets user, session and metadata as headers of one line', async () => {
    const { headers } = await log({ sessionId: 'a\r\nb: c', externalUser: 'größe 漢', trace: { 'Team Name': 'x\ny', deep: { a: 1 } } })
    expect(headers).toMatchObject({
      'helicone-session-id': 'a b: c',
      'helicone-property-team-name': 'x y',
      'helicone-property-deep': '{"a":1}',
      'helicone-property-cost-usd': '0.0123',
    })
    expect(Buffer.from(headers['helicone-user-id'] ?? '', 'latin1').toString()).toBe('größe 漢')
  })

  it('creates no headers from names and values that are invalid in headers', async () => {
    const trace = { 'Größe, 漢': 'a\nb', '': 1, 'helicone-fallbacks': 'x', authorization: 'Bearer mine' }
    const { json, meta } = (JSON.parse(String((await log({ trace, metadata: {} })).body)) as LogBody).providerRequest
    expect(() => new Headers(meta)).not.toThrow()
    expect(meta).toEqual({})
    expect(json['metadata']).toMatchObject(trace)
  })

  it.each([
    ['{"error":"queue is away"}', 'retry'],
    ['{"error":null}', 'delivered'],
    ['ok', 'delivered'],
  ])('has accepted a log or not as its answer %s says, whatever the status', (body, kind) => {
    const request: OutgoingRequest = { method: 'POST', url: 'https://api.worker.helicone.ai/custom/v1/log', headers: {} }
    expect(helicone.classify?.({ status: 200, headers: {}, body: Buffer.from(body) }, request).kind).toBe(kind)
  })

  it('recognises a repeated log by its request id', async () => {
    expect((await log({})).headers['helicone-request-id']).toBe((await log({})).headers['helicone-request-id'])
    expect((await log({ id: 'gen-other' })).headers['helicone-request-id']).not.toBe((await log({})).headers['helicone-request-id'])
  })

  it('gets seconds and milliseconds apart, and the status of what failed', async () => {
    const ok = JSON.parse(String((await log({})).body)) as { timing: { startTime: object }; providerResponse: { status: number } }
    expect(ok.timing.startTime).toEqual({ seconds: Math.floor(SAMPLE_TIME / 1000), milliseconds: 250 })
    const failed = JSON.parse(String((await log({}, failedGeneration())).body)) as typeof ok
    expect([ok.providerResponse.status, failed.providerResponse.status]).toEqual([200, 400])
  })

  it('calls no call successful that failed behind a good status', async () => {
    const { providerResponse } = JSON.parse(String((await log({ status: 'cancelled', httpStatus: 200 })).body)) as {
      providerResponse: { status: number }
    }
    expect(providerResponse.status).toBe(500)
  })

  it('lets no metadata name of the caller replace a property of the gateway', async () => {
    const { headers } = await log({ trace: { trace_id: 'order-1', 'Trace ID': 'other', provider: 'mine' } })
    expect(headers).toMatchObject({ 'helicone-property-trace-id': 'order-1', 'helicone-property-provider': 'beta' })
  })

  it('bounds the number and the length of its headers', async () => {
    const trace = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key${i}`, 'v'.repeat(5_000)]))
    const { headers } = await log({ trace })
    expect(Object.entries(headers).reduce((bytes, [name, value]) => bytes + name.length + value.length, 0)).toBeLessThan(8_000)
    expect(headers['helicone-property-trace-id']).toBeDefined()
  })
})

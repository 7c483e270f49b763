import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../delivery/record.ts'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { newrelic } from './newrelic.ts'

testDestination(newrelic, {
  config: { licenseKey: 'nr-secret-license-1', region: 'eu' },
  required: ['licenseKey'],
  defaults: { region: 'us' },
  invalid: [{ region: 'mars' }],
})

interface Span {
  readonly attributes: readonly { readonly key: string }[]
}
interface Decoded {
  readonly resourceSpans: readonly [{ readonly scopeSpans: readonly [{ readonly spans: readonly Span[] }] }]
}

const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }

describe('New Relic', () => {
  it('is found by region, or where the operator says', () => {
    const url = (region: string, baseUrl?: string): string | undefined =>
      newrelic.probe(newrelic.settings.parse({ licenseKey: 'k', region }), { ...context, ...(baseUrl === undefined ? {} : { baseUrl }) })[0]?.request
        .url
    expect(url('us')).toBe('https://otlp.nr-data.net/v1/traces')
    expect(url('eu')).toBe('https://otlp.eu01.nr-data.net/v1/traces')
    expect(url('eu', 'http://127.0.0.1:9/')).toBe('http://127.0.0.1:9/v1/traces')
  })

  it('gets values of at most 4095 characters, flagged when cut', async () => {
    const { generation } = minimalGeneration()
    const content = { input: [{ type: 'message', role: 'user', content: 'word '.repeat(2000) }], output: [] } as const
    const record = toDeliveryRecord(generation, content, { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } })
    const [request] = await newrelic.encode([record], newrelic.settings.parse({ licenseKey: 'k' }), context)
    const decoded = JSON.stringify(decodeOtlpRequest(request?.body as Buffer))
    expect(decoded).toContain('"gen_ai.prompt.truncated"')
    const values = [...decoded.matchAll(/"stringValue":("(?:[^"\\]|\\.)*")/g)].map((match) => (JSON.parse(match[1] ?? '""') as string).length)
    expect(Math.max(...values)).toBe(4095)
  })

  it('gets names, lists, span names and errors within its limits too, flagged when cut', async () => {
    const { generation, content } = fullGeneration()
    const long = 'x'.repeat(5000)
    const trace = { generation_name: long, span_name: long, ['k'.repeat(300)]: 1, list: [long, ...Array.from({ length: 99 }, String)] }
    const attempts = generation.attempts.map((attempt) => ({ ...attempt, providerName: long, errorType: 'server', errorMessage: long }))
    const failed = { ...generation, status: 'failed', errorMessage: long, attempts, trace } as const
    const record = toDeliveryRecord(failed, content, { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } })
    const [request] = await newrelic.encode([record], newrelic.settings.parse({ licenseKey: 'k' }), context)
    const decoded = decodeOtlpRequest(request?.body as Buffer)
    const texts: string[] = []
    const names: string[] = []
    const lists: number[] = []
    JSON.stringify(decoded, (field, value: unknown) => {
      if (typeof value === 'string') texts.push(value)
      if (field === 'key') names.push(value as string)
      if (field === 'values') lists.push((value as unknown[]).length)
      return value
    })
    expect(Math.max(...texts.map((text) => text.length))).toBe(4095)
    expect(Math.max(...names.map((name) => name.length))).toBe(255)
    expect(Math.max(...lists)).toBe(64)
    expect(names).toEqual(expect.arrayContaining(['trace.metadata.list.truncated', 'exception.message.truncated']))
    expect(names.some((name) => /^trace\.metadata\.k+\.truncated$/.test(name))).toBe(true)
  })

  it.each([
    [40, 2, false],
    [120, 1, false],
    [1_000, 1, true],
  ])('gets spans of no more attributes than it takes: %i keys of the caller stand there %i times', async (keys, times, isCut) => {
    const { generation, content } = fullGeneration()
    const trace = { span_name: 'Outer', ...Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key${i}`, i])) }
    const record = toDeliveryRecord({ ...generation, trace }, content, {
      privacyMode: false,
      broadcast: { cost: true, identity: true, requestContext: true },
    })
    const [request] = await newrelic.encode([record], newrelic.settings.parse({ licenseKey: 'k' }), context)
    const decoded = decodeOtlpRequest(request?.body as Buffer) as Decoded
    const [wrapper, inner] = decoded.resourceSpans[0].scopeSpans[0].spans
    for (const span of [wrapper, inner]) {
      const names = span!.attributes.map(({ key }) => key)
      expect(names.length).toBeLessThanOrEqual(230)
      expect(names.filter((name) => name.endsWith('metadata.key0'))).toHaveLength(times)
      expect(names).toContain('trace.metadata.gateway.status')
      expect(names.includes('gateway.metadata.truncated')).toBe(isCut)
    }
    expect(inner!.attributes.map(({ key }) => key)).toEqual(expect.arrayContaining(['gen_ai.prompt', 'gen_ai.usage.total_cost']))
  })
})

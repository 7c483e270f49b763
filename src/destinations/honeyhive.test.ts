import { describe, expect, it } from 'vitest'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { honeyhive } from './honeyhive.ts'

testDestination(honeyhive, {
  config: { apiKey: 'hh-secret-key-1', baseUrl: 'https://api.dp1.us.honeyhive.ai', project: 'chat', source: 'tests' },
  required: ['apiKey'],
  defaults: { baseUrl: 'https://api.honeyhive.ai', source: 'gateway' },
  inspect: ([request]) => {
    const text = JSON.stringify(decodeOtlpRequest(request?.body as Buffer))
    const sessions = new Set([...text.matchAll(/"honeyhive\.session_id","value":\{"stringValue":"([^"]+)"/g)].map((match) => match[1]))
    expect(sessions.size).toBe(1)
    expect([...sessions][0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-/)
    // Any span may arrive first, and a session that was not started explicitly is only shown if the span asks for it.
    expect([...text.matchAll(/"honeyhive\.session_auto_create","value":\{"boolValue":true\}/g)]).toHaveLength(5)
    expect([...text.matchAll(/"honeyhive\.session_name","value":\{"stringValue":"Checkout"\}/g)]).toHaveLength(5)
    expect([...text.matchAll(/"honeyhive_event_type","value":\{"stringValue":"([^"]+)"/g)].map((match) => match[1])).toEqual([
      'chain',
      'model',
      'chain',
      'chain',
      'tool',
    ])
  },
})

describe('HoneyHive', () => {
  it.each([
    ['https://h.example.com', 'https://h.example.com/opentelemetry/v1/traces'],
    ['https://h.example.com/opentelemetry/', 'https://h.example.com/opentelemetry/v1/traces'],
    ['https://h.example.com/opentelemetry/v1/traces', 'https://h.example.com/opentelemetry/v1/traces'],
  ])('takes spans below %s', (baseUrl, expected) => {
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    expect(honeyhive.probe(honeyhive.settings.parse({ apiKey: 'k', baseUrl }), context)[0]?.request.url).toBe(expected)
  })
})

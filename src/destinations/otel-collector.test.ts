import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { otelCollector } from './otel-collector.ts'

testDestination(otelCollector, {
  config: { endpoint: 'https://otel.example.com:4318', headers: { 'x-api-key': 'collector-secret-1' } },
  required: ['endpoint'],
  defaults: {},
  invalid: [{ endpoint: 'otel.example.com:4318' }, { endpoint: 'grpc://otel.example.com' }],
  classification: [
    [200, '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"bad span"}}', 'partial'],
    [200, '{"partialSuccess":{"rejectedSpans":"0","errorMessage":"careful"}}', 'delivered'],
    [200, '{"partialSuccess":{"errorMessage":""}}', 'delivered'],
    [200, '{}', 'delivered'],
    [200, '\u000a\u0006\u0008\u0002\u0012\u0002no', 'partial', { 'content-type': 'application/x-protobuf' }],
    [200, '\u000a\u0000', 'delivered', { 'content-type': 'application/x-protobuf' }],
  ],
})

describe('the address', () => {
  const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
  it.each([
    ['https://otel.example.com:4318', 'https://otel.example.com:4318/v1/traces'],
    ['https://otel.example.com/', 'https://otel.example.com/v1/traces'],
    ['https://otel.example.com/otlp', 'https://otel.example.com/otlp'],
    ['https://otel.example.com/v1/traces?team=a', 'https://otel.example.com/v1/traces?team=a'],
  ])('%s is asked at %s', (endpoint, url) => {
    expect(otelCollector.probe(otelCollector.settings.parse({ endpoint }), context)[0]?.request.url).toBe(url)
  })
})

import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { webhook } from './webhook.ts'

testDestination(webhook, {
  config: { url: 'https://hooks.example.com/in?source=gateway', method: 'PUT', headers: { Authorization: 'Bearer hook-secret-1234' } },
  required: ['url'],
  defaults: { method: 'POST' },
  invalid: [{ url: 'ftp://example.com' }, { url: 'https://user:password@example.com' }, { url: 'example.com' }, { method: 'GET' }],
  classification: [[200, '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}', 'partial']],
})

describe('the connection test', () => {
  const settings = webhook.settings.parse({ url: 'https://hooks.example.com/in' })
  const [step] = webhook.probe(settings, { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 })

  it.each([
    [200, true],
    [204, true],
    [400, true],
    [401, false],
    [404, false],
    [500, false],
  ])('takes HTTP %i as passed: %s', (status, passed) => {
    expect(step?.check?.({ status, headers: {}, body: Buffer.alloc(0) }) === undefined).toBe(passed)
  })
})

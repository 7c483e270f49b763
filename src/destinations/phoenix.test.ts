import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { phoenix } from './phoenix.ts'

testDestination(phoenix, {
  config: { baseUrl: 'https://phoenix.example.com', apiKey: 'phoenix-secret-1', project: 'chat' },
  required: ['baseUrl'],
  defaults: { project: 'default' },
  invalid: [{ baseUrl: 'phoenix:6006' }, { project: '' }],
})

describe('Phoenix', () => {
  it('needs no key', () => {
    const [step] = phoenix.probe(phoenix.settings.parse({ baseUrl: 'http://127.0.0.1:6006' }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })
    expect(step?.request.url).toBe('http://127.0.0.1:6006/v1/traces')
    expect(step?.request.headers).toEqual({ 'content-type': 'application/x-protobuf' })
  })
})

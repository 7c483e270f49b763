import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { honeycomb } from './honeycomb.ts'

testDestination(honeycomb, {
  config: { apiKey: 'hcaik_secret_key_1', baseUrl: 'https://api.eu1.honeycomb.io', dataset: 'llm' },
  required: ['apiKey'],
  defaults: { baseUrl: 'https://api.honeycomb.io' },
  inspect: ([request]) =>
    expect(request).toMatchObject({
      url: 'https://api.eu1.honeycomb.io/v1/traces',
      headers: { 'x-honeycomb-team': 'hcaik_secret_key_1', 'x-honeycomb-dataset': 'llm' },
    }),
})

describe('Honeycomb', () => {
  it('names a dataset only when told to', () => {
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    const [step] = honeycomb.probe(honeycomb.settings.parse({ apiKey: 'k' }), context)
    expect(step?.request.headers).not.toHaveProperty('x-honeycomb-dataset')
  })
})

import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { grafana } from './grafana.ts'

testDestination(grafana, {
  config: { apiKey: 'glc_secret-value-1', instanceId: '123456', baseUrl: 'https://otlp.example.net' },
  required: ['apiKey', 'instanceId'],
  defaults: { baseUrl: 'https://otlp-gateway-prod-us-west-0.grafana.net' },
})

describe('the base address', () => {
  it('may end in /otlp already', () => {
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    for (const baseUrl of ['https://g.example.net', 'https://g.example.net/otlp', 'https://g.example.net/otlp/']) {
      const settings = grafana.settings.parse({ apiKey: 'k', instanceId: '1', baseUrl })
      expect(grafana.probe(settings, context)[0]?.request.url).toBe('https://g.example.net/otlp/v1/traces')
    }
  })
})

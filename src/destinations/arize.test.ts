import { describe, expect, it } from 'vitest'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { arize } from './arize.ts'

testDestination(arize, {
  config: { apiKey: 'arize-secret-key-1', spaceKey: 'arize-secret-space-1', modelId: 'chat', baseUrl: 'https://otlp.eu-west-1a.arize.com' },
  required: ['apiKey', 'spaceKey', 'modelId'],
  defaults: { baseUrl: 'https://otlp.arize.com' },
  classification: [[500, '', 'retry']],
  inspect: ([request]) => {
    const decoded = decodeOtlpRequest(request?.body as Buffer) as { resourceSpans: { resource: { attributes: { key: string; value: object }[] } }[] }
    for (const { resource } of decoded.resourceSpans)
      expect(resource.attributes).toEqual(
        expect.arrayContaining([
          { key: 'openinference.project.name', value: { stringValue: 'chat' } },
          { key: 'model_id', value: { stringValue: 'chat' } },
        ]),
      )
    // The platform does not read nested values, so everything must be flat.
    expect(JSON.stringify(decoded)).not.toContain('kvlistValue')
  },
})

describe('Arize', () => {
  it.each([
    ['https://otlp.arize.com', 'https://otlp.arize.com/v1/traces'],
    ['https://otlp.arize.com/', 'https://otlp.arize.com/v1/traces'],
    // The form that the vendor's page of regions gives.
    ['https://otlp.eu-west-1a.arize.com/v1', 'https://otlp.eu-west-1a.arize.com/v1/traces'],
    ['https://otlp.eu-west-1a.arize.com/v1/', 'https://otlp.eu-west-1a.arize.com/v1/traces'],
    ['https://otlp.arize.com/v1/traces', 'https://otlp.arize.com/v1/traces'],
  ])('takes spans below %s', (baseUrl, expected) => {
    const settings = arize.settings.parse({ apiKey: 'a', spaceKey: 's', modelId: 'm', baseUrl })
    const [step] = arize.probe(settings, { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 })
    expect(step?.request).toMatchObject({ url: expected, headers: { space_id: 's', api_key: 'a' } })
    expect(JSON.stringify(decodeOtlpRequest(step?.request.body as Buffer))).toContain('"model_id"')
  })
})

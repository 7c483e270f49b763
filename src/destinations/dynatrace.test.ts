import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { dynatrace } from './dynatrace.ts'

testDestination(dynatrace, {
  config: { baseUrl: 'https://abc12345.live.dynatrace.com', apiToken: 'dt0c01.secret.token1' },
  required: ['baseUrl', 'apiToken'],
  defaults: {},
  inspect: ([request]) =>
    expect(request?.headers).toMatchObject({ authorization: 'Api-Token dt0c01.secret.token1', 'content-type': 'application/x-protobuf' }),
})

describe('Dynatrace', () => {
  it.each([
    ['https://abc.live.dynatrace.com', 'https://abc.live.dynatrace.com/api/v2/otlp/v1/traces'],
    ['https://gate:9999/e/abc/api/v2/otlp/', 'https://gate:9999/e/abc/api/v2/otlp/v1/traces'],
    ['https://abc.live.dynatrace.com/api/v2/otlp/v1/traces', 'https://abc.live.dynatrace.com/api/v2/otlp/v1/traces'],
  ])('takes spans below %s', (baseUrl, expected) => {
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    expect(dynatrace.probe(dynatrace.settings.parse({ baseUrl, apiToken: 'k' }), context)[0]?.request.url).toBe(expected)
  })

  it('refuses spans older than an hour: such generations are not sent', () => expect(dynatrace.limits.maxAgeMs).toBeLessThan(3_600_000))
})

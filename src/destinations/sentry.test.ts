import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { embeddingGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { sentry } from './sentry.ts'

const dsn = 'https://0123456789abcdef@o42.ingest.us.sentry.io/4501'

testDestination(sentry, {
  config: { otlpEndpoint: 'https://o42.ingest.us.sentry.io/api/4501/integration/otlp', dsn },
  required: ['otlpEndpoint', 'dsn'],
  defaults: {},
  invalid: [
    { dsn: 'http://a@b/1' },
    { dsn: 'https://a@b/project' },
    { dsn: 'https://b/1' },
    // The key is sent in a header.
    { dsn: 'https://\u043a\u043b\u044e\u0447@b/1' },
    { dsn: 'https://a\nb@b/1' },
  ],
  inspect: ([request]) => {
    const text = String(request?.body)
    expect(text).toContain('{"key":"sentry.op","value":{"stringValue":"gen_ai.chat"}}')
    // The attributes that the platform's cost and tool views read.
    expect(text).toContain('{"key":"gen_ai.cost.total_tokens","value":{"doubleValue":0.0123}}')
    expect(text).toMatch(/"gen_ai\.tool\.call\.arguments","value":\{"stringValue":"\{\\"zone/)
    expect(text).toMatch(/"gen_ai\.tool\.call\.result","value":\{"stringValue":"2026/)
    expect(text).toContain('{"key":"deployment.environment.name","value":{"stringValue":"Production"}}')
    expect(text).toContain('{"key":"service.version","value":{"stringValue":"1.4.0"}}')
  },
})

describe('Sentry', () => {
  it('drops the secret of an old DSN, which is not needed and which every read would show', () => {
    const given = { otlpEndpoint: 'https://s.example.com/api/1/otlp', dsn: 'https://pub:canary-secret@s.example.com/base/1' }
    expect(sentry.settings.parse(given)).toMatchObject({ dsn: 'https://pub@s.example.com/base/1' })
    expect(sentry.settings.parse({ ...given, dsn })).toMatchObject({ dsn })
  })

  it.each([
    ['chat', minimalGeneration()],
    ['embeddings', embeddingGeneration()],
  ])('files a call under the kind of its operation: %s', async (operation, { generation, content }) => {
    const record = toDeliveryRecord(generation, content, { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } })
    const settings = sentry.settings.parse({ otlpEndpoint: 'https://s.example.com/api/1/otlp', dsn })
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    const [request] = await sentry.encode([record], settings, context)
    expect(String(request?.body)).toContain(`{"key":"sentry.op","value":{"stringValue":"gen_ai.${operation}"}}`)
    expect(String(request?.body)).toContain(`{"key":"gen_ai.operation.name","value":{"stringValue":"${operation}"}}`)
  })

  it.each([
    ['https://s.example.com/api/1/otlp', dsn, 'https://s.example.com/api/1/otlp/v1/traces', '0123456789abcdef'],
    [
      'https://s.example.com/api/1/integration/otlp/v1/traces',
      'https://pub:sec@s.example.com/base/1/',
      'https://s.example.com/api/1/integration/otlp/v1/traces',
      'pub',
    ],
    ['https://s.example.com/api/1/otlp/v1/traces/', dsn, 'https://s.example.com/api/1/otlp/v1/traces/', '0123456789abcdef'],
  ])('takes spans at %s with the public key of %s', (otlpEndpoint, given, url, key) => {
    const [step] = sentry.probe(sentry.settings.parse({ otlpEndpoint, dsn: given }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })
    expect(step?.request).toMatchObject({ url, headers: { 'x-sentry-auth': `sentry sentry_key=${key}` } })
  })
})

import { describe, expect, it } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { kafkaRest } from './kafka-rest.ts'

testDestination(kafkaRest, {
  config: { baseUrl: 'https://kafka.example.com:8082', topic: 'ai.generations', username: 'user', password: 'kafka-secret-password-1' },
  required: ['baseUrl', 'topic'],
  defaults: {},
  invalid: [{ topic: 'a/b' }, { topic: '..' }, { topic: 'a b' }, { baseUrl: 'kafka:9092' }],
  classification: [
    [404, '{"error_code":40401}', 'unauthorized'],
    [200, '{"offsets":[{"partition":0,"offset":1,"error_code":null,"error":null}]}', 'delivered'],
    [200, '{"offsets":[{"partition":null,"offset":null,"error_code":2,"error":"later"}]}', 'partial'],
    [422, '{"error_code":42205}', 'reject'],
  ],
  inspect: ([request]) => {
    const { records } = JSON.parse(String(request?.body)) as { records: { key: string; value: { id: string } }[] }
    expect(records).toMatchObject([{ key: 'order-123', value: { id: 'gen-1768473000-A1b2C3d4E5f6G7h8I9j0' } }])
    expect(request?.headers['content-type']).toBe('application/vnd.kafka.json.v2+json')
  },
})

describe('the Kafka REST proxy', () => {
  it('tells records that are lost from those to send again', () => {
    const body = {
      offsets: [
        { partition: 0, offset: 7 },
        { error_code: 1, error: 'too large' },
        { error_code: 2, error: 'no leader' },
      ],
    }
    expect(
      kafkaRest.classify?.(
        { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) },
        { method: 'POST', url: 'https://e.com', headers: {} },
      ),
    ).toMatchObject({ kind: 'partial', rejected: [{ index: 1, message: 'too large' }], retry: [2] })
  })
})

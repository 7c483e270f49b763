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
    [200, '{"offsets":[{"partition":0,"error_code":6,"offset":-1},{"partition":1,"offset":4}]}', 'retry'],
    [200, '{"offsets":[{"partition":0,"error_code":10,"offset":-1},{"partition":1,"offset":4}]}', 'split'],
    [200, '{"offsets":[{"partition":0,"error_code":87,"offset":-1}]}', 'reject'],
    [200, '{"offsets":[{"partition":0,"error_code":29,"offset":-1}]}', 'unauthorized'],
    [200, '{"offsets":[{"partition":0,"error_code":3,"offset":-1}]}', 'unauthorized'],
    [200, '{"offsets":[{"partition":0,"error_code":0,"offset":3}]}', 'delivered'],
  ],
  inspect: ([request]) => {
    const { records } = JSON.parse(String(request?.body)) as { records: { key: string; value: { id: string } }[] }
    const tools = [{ type: 'function', function: { name: 'look' } }]
    expect(records).toMatchObject([{ key: 'order-123', value: { id: 'gen-1768473000-A1b2C3d4E5f6G7h8I9j0', tools } }])
    const datetime = { name: 'tool: datetime', input: expect.stringContaining('zone'), output: expect.stringContaining('2026') }
    expect(records[0]?.value).toMatchObject({ steps: expect.arrayContaining([expect.objectContaining(datetime)]) })
    expect(request?.headers['content-type']).toBe('application/vnd.kafka.json.v2+json')
  },
})

describe('the Kafka REST proxy', () => {
  const answer = (body: unknown, status = 200) => ({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) })

  it.each([
    ['as documented', { error_code: 1, error: 'too large' }, { error_code: 2, error: 'no leader' }],
    ['as its servers do', { error_code: 50_002, error: 'too large' }, { error_code: 50_003, error: 'no leader' }],
    ['as a bridge does', { error_code: 50_002, message: 'too large' }, { error_code: 500, message: 'no leader' }],
  ])('separates records that are lost from those to send again, numbered %s', (_how, lost, later) => {
    const outcome = kafkaRest.classify?.(answer({ offsets: [{ partition: 0, offset: 7 }, lost, later] }), {
      method: 'POST',
      url: 'https://e.com',
      headers: {},
    })
    expect(outcome).toMatchObject({ kind: 'partial', rejected: [{ index: 1, message: 'too large' }], retry: [2] })
  })

  it.each([
    [200, ['other', 'ai.generations'], undefined],
    [200, ['other'], 'there is no such topic, or this user may not see it'],
    [200, { name: 'ai.generations' }, 'the answer is no list of topics: is this the address of the proxy?'],
    [401, { error_code: 40101 }, 'HTTP 401: {"error_code":40101}'],
  ])('has the topic, or the connection test says why not: %s %j', (status, body, problem) => {
    const settings = kafkaRest.settings.parse({ baseUrl: 'https://kafka.example.com', topic: 'ai.generations' })
    const [step] = kafkaRest.probe(settings, { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 })
    expect(step?.check?.(answer(body, status))).toBe(problem)
  })
})

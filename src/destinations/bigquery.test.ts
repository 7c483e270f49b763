import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { DestinationContext, OutgoingResponse } from '../core/destination.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { madeUpKey } from '../testing/made-up-key.ts'
import { bigquery } from './bigquery.ts'

const serviceAccountKey = readFileSync(new URL('__fixtures__/service-account.json', import.meta.url), 'utf8')
const config = { projectId: 'my-project', datasetId: 'observability', tableId: 'traces', serviceAccountKey }
/** A signature with this key would take seconds in the thread that delivers for all owners. */
const longKey = JSON.stringify({ ...(JSON.parse(serviceAccountKey) as object), private_key: madeUpKey(16_384) })
const error = (reason: string): string => JSON.stringify({ error: { errors: [{ reason }] } })

testDestination(bigquery, {
  config,
  required: ['projectId', 'datasetId', 'serviceAccountKey'],
  defaults: { tableId: 'gateway_traces' },
  invalid: [
    { serviceAccountKey: '{}' },
    { serviceAccountKey: longKey },
    { serviceAccountKey: 'x' },
    { datasetId: 'a/b' },
    { projectId: '../x' },
    { tableId: 'a b' },
  ],
  classification: [
    [200, '{"kind":"bigquery#tableDataInsertAllResponse"}', 'delivered'],
    [200, '{"insertErrors":[{"index":0,"errors":[{"reason":"invalid","location":"tags","message":"no array"}]}]}', 'partial'],
    [403, error('accessDenied'), 'unauthorized'],
    [403, error('quotaExceeded'), 'retry'],
    [404, error('notFound'), 'unauthorized'],
    [500, error('backendError'), 'retry'],
    [413, '', 'split'],
  ],
  inspect: ([request]) => {
    expect(request?.url).toBe('https://bigquery.googleapis.com/bigquery/v2/projects/my-project/datasets/observability/tables/traces/insertAll')
    const { rows, skipInvalidRows } = JSON.parse(String(request?.body)) as {
      rows: { insertId: string; json: Record<string, unknown> }[]
      skipInvalidRows: boolean
    }
    expect(skipInvalidRows).toBe(true)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.json).toMatchObject({ trace_id: 'order-123', total_tokens: 1545, tags: ['blue', 'beta'] })
    expect(typeof rows[0]?.json['metadata']).toBe('string')
  },
})

const context: DestinationContext = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: Date.UTC(2026, 0, 1), attempt: 0 }

describe('BigQuery', () => {
  it('signs its own token, for this service and an hour', () => {
    const [step] = bigquery.probe(bigquery.settings.parse(config), context)
    const [header = '', claims = '', signature = ''] = (step?.request.headers['authorization'] ?? '').replace('Bearer ', '').split('.')
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(read(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    const email = 'gateway@example.iam.gserviceaccount.com'
    const iat = context.now / 1000 - 60
    expect(read(claims)).toEqual({ iss: email, sub: email, aud: 'https://bigquery.googleapis.com/', iat, exp: iat + 3600 })
    const { private_key } = JSON.parse(serviceAccountKey) as { private_key: string }
    const valid = verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), createPublicKey(private_key), Buffer.from(signature, 'base64url'))
    expect(valid).toBe(true)
  })

  it('treats an exceeded quota as a pause, although it is reported as forbidden', () => {
    const answer = (status: number, reason: string): OutgoingResponse => ({
      status,
      headers: {},
      body: Buffer.from(JSON.stringify({ error: { errors: [{ reason }] } })),
    })
    const classify = (response: OutgoingResponse) => bigquery.classify?.(response, { method: 'POST', url: 'https://e.com', headers: {} })
    expect(classify(answer(403, 'rateLimitExceeded'))).toMatchObject({ kind: 'retry', overload: true })
    expect(classify(answer(403, 'accessDenied'))).toMatchObject({ kind: 'unauthorized' })
  })

  it('separates bad rows from those that were only in the same request', () => {
    const body = {
      insertErrors: [
        { index: 0, errors: [{ reason: 'stopped' }] },
        { index: 2, errors: [{ reason: 'invalid', location: 'tags', message: 'no array' }] },
      ],
    }
    const response: OutgoingResponse = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) }
    expect(bigquery.classify?.(response, { method: 'POST', url: 'https://e.com', headers: {} })).toMatchObject({
      kind: 'partial',
      rejected: [{ index: 2, message: '"tags": "no array"' }],
      retry: [0],
    })
  })

  it.each([
    [1, '{"permissions":["bigquery.tables.updateData"]}', true],
    [1, '{}', false],
    [0, '{"schema":{"fields":[{"name":"trace_id"},{"name":"span_id"}]}}', true],
    [0, '{"schema":{"fields":[{"name":"model"}]}}', false],
  ])('reads answer %i to its test %s as passed: %s', (index, body, passed) => {
    const step = bigquery.probe(bigquery.settings.parse(config), context)[index]
    expect(step?.check?.({ status: 200, headers: {}, body: Buffer.from(body) }) === undefined).toBe(passed)
  })
})

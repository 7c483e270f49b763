import { describe, expect, it } from 'vitest'
import type { DestinationContext, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, minimalGeneration, SAMPLE_TIME } from '../testing/sample-generations.ts'
import { snowflake } from './snowflake.ts'

testDestination(snowflake, {
  config: { account: 'myorg-account1', token: 'sf-secret-token-1', database: 'LOGS', schema: 'AI', table: 'TRACES', warehouse: 'WH' },
  required: ['account', 'token'],
  defaults: { database: 'SNOWFLAKE_LEARNING_DB', schema: 'PUBLIC', table: 'GATEWAY_TRACES', warehouse: 'COMPUTE_WH' },
  invalid: [
    { account: 'a/b' },
    { account: 'evil.com/x#' },
    { table: 'T"; DROP' },
    { schema: 'a.b' },
    { warehouse: '' },
    { account: 'a'.repeat(256) },
  ],
  classification: [
    [200, '{"code":"090001"}', 'delivered'],
    [202, '{"code":"333334","statementHandle":"01b2"}', 'retry'],
    [401, '{"code":"390303"}', 'unauthorized'],
    [400, '{"code":"390318","message":"token expired"}', 'unauthorized'],
    [408, '{"code":"000630"}', 'retry'],
    [422, '{"code":"002003","message":"Object does not exist"}', 'unauthorized'],
    [422, '{"code":"000904","message":"invalid identifier"}', 'unauthorized'],
    [422, '{"code":"000606","message":"No active warehouse"}', 'unauthorized'],
    [
      422,
      '{"code":"090073","sqlState":"22000","message":"Warehouse cannot be resumed because resource monitor has exceeded its quota."}',
      'unauthorized',
    ],
    [422, '{"code":"100038","message":"Numeric value is not recognized"}', 'reject'],
  ],
})

const context: DestinationContext = { destinationId: 'd', serviceName: 'signalbox', serviceVersion: '1', now: 0, attempt: 0 }
const settings = snowflake.settings.parse({ account: 'myorg-account1', token: 't' })
const NONE = { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } }
const records = [fullGeneration(), minimalGeneration()].map(({ generation, content }) => toDeliveryRecord(generation, content, NONE))
const encode = async (changes: Partial<DestinationContext> = {}, batch = records): Promise<OutgoingRequest> =>
  (await snowflake.encode(batch, settings, { ...context, ...changes }))[0]!
const answer = (status: number, body: object): OutgoingResponse => ({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) })

it('tries a statement on which Snowflake itself failed a few times, because rows may be at fault or none', () => {
  const failed = { code: '000603', sqlState: 'XX000', message: 'SQL execution internal error: Processing aborted by error 300010:391167117' }
  const request: OutgoingRequest = { method: 'POST', url: 'https://myorg-account1.snowflakecomputing.com/api/v2/statements', headers: {} }
  expect(snowflake.classify?.(answer(422, failed), request)).toMatchObject({ kind: 'retry', maxAttempts: 10 })
})

describe('Snowflake', () => {
  it('gets all rows as one bound value of a MERGE, and no value in the statement', async () => {
    const { url, body } = await encode()
    const { statement, bindings, timeout } = JSON.parse(String(body)) as {
      statement: string
      bindings: { [n: string]: { type: string; value: string } }
      timeout: number
    }
    expect(timeout).toBe(60)
    expect(statement).toMatch(/^MERGE INTO "SNOWFLAKE_LEARNING_DB"\."PUBLIC"\."GATEWAY_TRACES" AS t USING \(SELECT /)
    expect(statement).toContain('ON t."TRACE_ID" = s."TRACE_ID" AND t."SPAN_ID" = s."SPAN_ID" WHEN NOT MATCHED THEN INSERT')
    expect(statement.match(/\?/g)).toHaveLength(1)
    const rows = JSON.parse(bindings['1']?.value ?? '') as { TIMESTAMP: number; METADATA: object }[]
    expect(rows).toHaveLength(3)
    expect(rows[0]?.TIMESTAMP).toBe(SAMPLE_TIME)
    expect(typeof rows[0]?.METADATA).toBe('object')
    expect(url).toMatch(/^https:\/\/myorg-account1\.snowflakecomputing\.com\/api\/v2\/statements\?requestId=[0-9a-f-]{36}$/)
  })

  it('recognises a repeat by its request id: same rows, same id', async () => {
    const first = await encode()
    const again = await encode({ attempt: 1, now: 99 })
    expect(again.url).toBe(`${first.url}&retry=true`)
    expect(again.body).toBe(first.body)
    expect((await encode({}, records.slice(1))).url).not.toBe(first.url)
  })

  it('gets ids that fit into the column and stay different, because a row that does not fit is refused', async () => {
    const { generation, content } = minimalGeneration()
    const idsOf = async (trace: string): Promise<{ TRACE_ID: string; PARENT_SPAN_ID: string }> => {
      const named = { ...generation, trace: { trace_id: trace, parent_span_id: `p${trace}` } }
      const { body } = await encode({}, [toDeliveryRecord(named, content, NONE)])
      const { bindings } = JSON.parse(String(body)) as { bindings: { 1: { value: string } } }
      return (JSON.parse(bindings[1].value) as { TRACE_ID: string; PARENT_SPAN_ID: string }[])[0]!
    }
    const long = '\u{1f600}'.repeat(150)
    const [one, same, other] = [await idsOf(long), await idsOf(long), await idsOf(`${long}x`)]
    expect(one).toEqual(same)
    expect(one.TRACE_ID).not.toBe(other.TRACE_ID)
    for (const id of [one.TRACE_ID, one.PARENT_SPAN_ID, other.TRACE_ID]) {
      expect(id.length).toBeLessThanOrEqual(256)
      expect(id.isWellFormed()).toBe(true)
    }
    expect((await idsOf('t'.repeat(255))).PARENT_SPAN_ID).toBe(`p${'t'.repeat(255)}`)
  })

  it('waits for a statement that is still running', () => {
    const running = answer(202, { code: '333334', statementHandle: '01b2c3d4-0000-1111-0000-00000000abcd' })
    const next = snowflake.followUp?.(running, 0, settings, context)
    expect(next?.request).toMatchObject({
      method: 'GET',
      url: 'https://myorg-account1.snowflakecomputing.com/api/v2/statements/01b2c3d4-0000-1111-0000-00000000abcd',
    })
    expect(next?.request.headers['user-agent']).toBe('signalbox/1')
    expect(snowflake.followUp?.(answer(200, { code: '090001' }), 1, settings, context)).toBeUndefined()
    expect(snowflake.followUp?.(answer(202, { statementHandle: '../../x?y' }), 1, settings, context)).toBeUndefined()
  })

  it('writes only columns the table has, in their own spelling', async () => {
    const columns = answer(200, {
      resultSetMetaData: { rowType: [{ name: 'table_name' }, { name: 'column_name' }] },
      data: [
        ['T', 'TRACE_ID'],
        ['T', 'SPAN_ID'],
        ['T', 'model'],
        ['T', 'OTHER'],
      ],
    })
    const prepared = await snowflake.prepare?.(settings, context, async () => columns)
    const { statement } = JSON.parse(String((await encode({ prepared })).body)) as { statement: string }
    expect(statement).toContain('INSERT ("TRACE_ID", "SPAN_ID", "model") VALUES (s."TRACE_ID", s."SPAN_ID", s."MODEL")')
    expect(await snowflake.prepare?.(settings, context, async () => answer(422, { code: '002003' }))).toBeUndefined()
  })

  it('asks for the columns later when the account is busy: a statement with columns the table lacks would be refused', async () => {
    for (const busy of [answer(429, {}), answer(503, {}), answer(408, { code: '000630' })])
      await expect(snowflake.prepare?.(settings, context, async () => busy)).rejects.toThrow("the table's columns could not be read")
  })

  it('sends a statement again that was cancelled before it ran, and blames no row for it', async () => {
    const request = await encode()
    for (const code of ['000604', '000625', '000630'])
      expect(snowflake.classify?.(answer(422, { code, sqlState: '57014', message: 'was canceled' }), request)).toMatchObject({ kind: 'retry' })
    expect(snowflake.classify?.(answer(422, { code: '100069', sqlState: '22P02' }), request)).toMatchObject({ kind: 'reject' })
    expect(snowflake.classify?.(answer(422, { code: '000606', sqlState: '57P03' }), request)).toMatchObject({ kind: 'unauthorized' })
  })

  it('goes where the operator says', async () => {
    expect((await encode({ baseUrl: 'http://127.0.0.1:9' })).url).toMatch(/^http:\/\/127\.0\.0\.1:9\/api\/v2\/statements\?/)
  })
})

import { createRequire } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import type { DestinationContext, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { clickhouse } from './clickhouse.ts'
import { clickhouseTable } from './shared/warehouse-ddl.ts'
import { WAREHOUSE_COLUMNS } from './shared/warehouse-row.ts'

const config = { host: 'https://ch.example.com:8443', database: 'observability', username: 'gateway', password: 'ch-secret-password-1' }
const code = (value: number): { readonly [name: string]: string } => ({ 'x-clickhouse-exception-code': String(value) })

testDestination(clickhouse, {
  config: { ...config, table: 'traces' },
  required: ['host', 'database', 'username', 'password'],
  defaults: { table: 'GATEWAY_TRACES' },
  invalid: [{ table: 'a`; DROP TABLE b; --' }, { table: 'a.b' }, { database: 'a b' }, { host: 'ch.example.com:8443' }, { table: '' }],
  classification: [
    [200, '', 'delivered'],
    [200, 'Code: 241. DB::Exception: Memory limit exceeded', 'retry'],
    [403, 'Code: 516. DB::Exception: Authentication failed', 'unauthorized', code(516)],
    [404, 'Code: 60. DB::Exception: Table does not exist', 'unauthorized', code(60)],
    [404, 'Code: 81. DB::Exception: Database does not exist', 'unauthorized', code(81)],
    [500, 'Code: 497. DB::Exception: Not enough privileges', 'unauthorized', code(497)],
    [400, 'Code: 117. DB::Exception: Unknown field', 'reject', code(117)],
    [500, 'Code: 27. DB::Exception: Cannot parse input', 'reject', code(27)],
    [500, 'Code: 252. DB::Exception: Too many parts', 'retry', code(252)],
    [500, 'Code: 202. DB::Exception: Too many simultaneous queries', 'retry', code(202)],
    [500, 'Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space', 'retry', code(243)],
    [500, 'Code: 201. DB::Exception: Quota for user `gateway` for 3600s has been exceeded', 'retry', code(201)],
    [500, 'Code: 285. DB::Exception: Number of alive replicas is less than requested', 'retry', code(285)],
    [500, 'Code: 164. DB::Exception: Cannot execute query in readonly mode', 'unauthorized', code(164)],
    [501, 'Code: 48. DB::Exception: Method write is not supported by storage View', 'unauthorized', code(48)],
    [500, 'Code: 55. DB::Exception: Method write is not supported by storage Distributed without a sharding key', 'unauthorized', code(55)],
    [404, 'Code: 115. DB::Exception: Unknown setting insert_deduplication_token', 'unauthorized', code(115)],
    [500, 'Code: 195. DB::Exception: It is not allowed to connect from this address', 'unauthorized', code(195)],
    // The body may be in another format, or missing.
    [500, '', 'unauthorized', code(497)],
    [404, '', 'unauthorized'],
    [413, '', 'split'],
    [500, '', 'retry'],
  ],
  inspect: ([request]) => {
    const url = new URL(request?.url ?? '')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      database: 'observability',
      query: 'INSERT INTO `traces` FORMAT JSONEachRow',
      async_insert: '1',
      wait_for_async_insert: '1',
      date_time_input_format: 'best_effort',
      input_format_skip_unknown_fields: '1',
    })
    expect(url.search).not.toContain('+')
    const rows = String(request?.body).trimEnd().split('\n')
    expect(rows).toHaveLength(2)
    for (const row of rows) expect(Object.keys(JSON.parse(row) as object).every((column) => column in WAREHOUSE_COLUMNS)).toBe(true)
  },
})

const context: DestinationContext = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
const record = (sample: ReturnType<typeof fullGeneration>, privacyMode = false) =>
  toDeliveryRecord(sample.generation, sample.content, { privacyMode, broadcast: { cost: true, identity: true, requestContext: true } })
const settings = clickhouse.settings.parse(config)
const encode = async (prepared?: unknown): Promise<OutgoingRequest> =>
  (await clickhouse.encode([record(fullGeneration())], settings, prepared === undefined ? context : { ...context, prepared }))[0]!
const answer = (body: string, status = 200): OutgoingResponse => ({ status, headers: {}, body: Buffer.from(body) })

it.each([
  [202, true],
  [252, true],
  [201, true],
  [241, false],
  [243, false],
])('exception %i of a running server does not count as an outage: %s', (exception, overload) => {
  const outcome = clickhouse.classify?.(
    { status: 500, headers: code(exception), body: Buffer.from('busy') },
    { method: 'POST', url: '', headers: {} },
  )
  expect(outcome).toEqual({ kind: 'retry', message: 'busy', overload })
})

describe('columns of a table made by hand', () => {
  const prepare = async (response: OutgoingResponse): Promise<unknown> => clickhouse.prepare?.(settings, context, async () => response)

  it('are the only ones sent, in their own spelling', async () => {
    const prepared = await prepare(answer('TRACE_ID\nspan_id\nTotal_Cost\nSOMETHING_ELSE\n'))
    const [line = ''] = String((await encode(prepared)).body).split('\n')
    expect(Object.keys(JSON.parse(line) as object).sort()).toEqual(['TRACE_ID', 'span_id'].sort())
    const [, generation = ''] = String((await encode(prepared)).body).split('\n')
    expect(JSON.parse(generation)).toMatchObject({ TRACE_ID: 'order-123', Total_Cost: 0.0123 })
  })

  it('are not known when the user may not look: all are sent, and the server skips what it lacks', async () => {
    for (const response of [answer('Code: 497.', 403), answer('')]) {
      expect(await prepare(response)).toBeUndefined()
    }
    expect(Object.keys(JSON.parse(String((await encode()).body).split('\n')[0] ?? '') as object).length).toBeGreaterThan(20)
  })

  it.each([
    ['busy', answer('', 503)],
    ['limited', answer('', 429)],
    ['out of memory', answer('Code: 241. DB::Exception: Memory limit exceeded')],
  ])('are requested later when the server is %s, because rows written without them would lack values', async (_name, response) => {
    await expect(prepare(response)).rejects.toThrow("the table's columns could not be read")
  })

  it.each([
    ['TRACE_ID\nSPAN_ID\n', true],
    ['MODEL\n', false],
    ['', false],
  ])('are part of the connection test: %j passes: %s', (body, passed) => {
    const step = clickhouse.probe(settings, context)[1]
    expect(step?.check?.(answer(body)) === undefined).toBe(passed)
  })
})

/**
 * A real engine in this process: npm `chdb`, which has half a gigabyte and is therefore not a dependency. SIGNALBOX_CHDB names the folder in which it was
 * installed (npm i chdb). Without it, there is nothing to run here.
 */
const folder = process.env['SIGNALBOX_CHDB']
if (folder !== undefined) testEngine(folder)

interface Session {
  query(sql: string, format?: string): string
  cleanup(): void
}

function testEngine(installed: string): void {
  describe('rows in a real engine', () => {
    const { Session: Engine } = createRequire(`${installed}/`)('chdb') as { Session: new () => Session }
    const engine = new Engine()
    afterAll(() => engine.cleanup())
    const run = (sql: string): unknown[] =>
      engine
        .query(sql, 'JSONEachRow')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown)

    it('are taken and queryable', async () => {
      engine.query(`CREATE DATABASE observability`)
      engine.query(`USE observability`)
      engine.query(clickhouseTable('GATEWAY_TRACES'))
      const batch = [record(fullGeneration()), record(minimalGeneration()), record(failedGeneration())]
      const [request] = await clickhouse.encode(batch, settings, context)
      const insert = (): void => {
        engine.query(
          `SET date_time_input_format='best_effort', input_format_skip_unknown_fields=1; INSERT INTO GATEWAY_TRACES FORMAT JSONEachRow ${String(request?.body)}`,
        )
      }
      insert()
      insert()
      expect(run('SELECT count() AS n FROM GATEWAY_TRACES FINAL')).toEqual([{ n: 4 }])
      expect(
        run(`SELECT TRACE_ID, PARENT_SPAN_ID, toUnixTimestamp64Milli(TIMESTAMP) AS ms, DURATION_MS, MODEL, PROVIDER_SLUG, TOTAL_TOKENS, TOTAL_COST, TAGS,
             JSONExtractString(METADATA, 'team') AS team, JSONExtractString(INPUT, 'messages', 1, 'role') AS role,
             JSONExtractInt(ATTRIBUTES, 'gen_ai.usage.input_tokens') AS input
           FROM GATEWAY_TRACES FINAL WHERE SPAN_TYPE = 'GENERATION' AND TRACE_ID = 'order-123'`),
      ).toEqual([
        {
          TRACE_ID: 'order-123',
          PARENT_SPAN_ID: `${fullGeneration().generation.id}:span`,
          ms: fullGeneration().generation.startedAt,
          DURATION_MS: 1500,
          MODEL: 'acme/small',
          PROVIDER_SLUG: 'beta',
          TOTAL_TOKENS: 1545,
          TOTAL_COST: 0.0123,
          TAGS: ['blue', 'beta'],
          team: 'search',
          role: 'system',
          input: 1200,
        },
      ])
      expect(run("SELECT STATUS, LEVEL, TOTAL_COST FROM GATEWAY_TRACES FINAL WHERE STATUS = 'error'")).toEqual([
        { STATUS: 'error', LEVEL: 'ERROR', TOTAL_COST: null },
      ])
    })

    it('are taken by a table with fewer columns', async () => {
      engine.query('CREATE TABLE few (TRACE_ID String, SPAN_ID String, MODEL Nullable(String)) ENGINE = MergeTree ORDER BY TRACE_ID')
      const [request] = await clickhouse.encode([record(fullGeneration())], settings, context)
      engine.query(`SET input_format_skip_unknown_fields=1; INSERT INTO few FORMAT JSONEachRow ${String(request?.body)}`)
      expect(run('SELECT MODEL FROM few ORDER BY MODEL')).toEqual([{ MODEL: 'acme/small' }, { MODEL: null }])
    })
  })
}

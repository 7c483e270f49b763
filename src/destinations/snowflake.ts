import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type {
  DeliveryOutcome,
  Destination,
  DestinationContext,
  FollowUp,
  OutgoingRequest,
  OutgoingResponse,
  SendRequest,
} from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { otlpTraceId, uuidFromId } from '../lib/derived-id.ts'
import { asObject, asObjects, readObject } from './shared/read-answer.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, joinUrl, mergeHeaders } from './shared/settings.ts'
import {
  checkTable,
  identifier,
  matchColumns,
  refuseTransient,
  warehouseRows,
  WAREHOUSE_COLUMNS,
  type TableColumns,
  type WarehouseColumn,
  type WarehouseRow,
} from './shared/warehouse-row.ts'

const STATEMENTS = '/api/v2/statements'
/** A suspended warehouse takes tens of seconds to resume. */
const STATEMENT_TIMEOUT_S = 60
const TIMEOUT_MS = 90_000
/** Width of the table's id columns: a longer text fails its row. */
const MAX_ID_CHARS = 256
const ID_BEGINNING = 192
const POLL_MS = [500, 1_000, 2_000, 3_000, 5_000] as const

const settings = destinationSettings({
  account: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[a-zA-Z0-9_]+(?:[.-][a-zA-Z0-9_]+)*$/, 'must be an account identifier: <organisation>-<account>')
    .describe('Account identifier, the part of its address before `.snowflakecomputing.com`.'),
  token: headerSecret('Programmatic access token.'),
  database: identifier('Database of the table, in its exact case.').default('SNOWFLAKE_LEARNING_DB'),
  schema: identifier('Schema of the table, in its exact case.').default('PUBLIC'),
  table: identifier('Table that receives the rows, in its exact case.').default('GATEWAY_TRACES'),
  warehouse: identifier('Warehouse that runs the statements.').default('COMPUTE_WH'),
})
type SnowflakeSettings = z.output<typeof settings>

/** Snowflake's SQL API: one MERGE per batch, so that a repeat adds no rows. The owner creates the table; see the reference of this type. */
export const snowflake: Destination<SnowflakeSettings> = {
  type: 'snowflake',
  name: 'Snowflake',
  settings,
  secrets: ['token', HEADER_SECRETS],
  limits: { records: 500, bytes: 10_000_000, lingerMs: 10_000, timeoutMs: TIMEOUT_MS, concurrency: 1 },
  encode: (batch, options, context) => [merge(batch, options, context)],
  classify,
  answersInBody: true,
  followUp,
  prepare: readColumns,
  probe: (options, context) => [
    { name: 'log in', request: statement(options, context, { statement: 'SELECT CURRENT_VERSION()' }) },
    { name: "read the table's columns", request: columnsRequest(options, context), check: checkColumns },
  ],
}

function requestHeaders({ token, headers }: SnowflakeSettings, context: DestinationContext): OutgoingRequest['headers'] {
  return mergeHeaders(headers, {
    authorization: `Bearer ${token}`,
    'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
    'content-type': 'application/json',
    accept: 'application/json',
    // Requests without a user agent are refused.
    'user-agent': `${context.serviceName}/${context.serviceVersion}`.replace(/[^\x20-\x7e]/g, '_'),
  })
}

const baseUrl = ({ account }: SnowflakeSettings, context: DestinationContext): string =>
  context.baseUrl ?? `https://${account}.snowflakecomputing.com`

function statement(options: SnowflakeSettings, context: DestinationContext, body: object, query = ''): OutgoingRequest {
  const { database, schema, warehouse } = options
  return {
    method: 'POST',
    url: `${joinUrl(baseUrl(options, context), STATEMENTS)}${query}`,
    headers: requestHeaders(options, context),
    body: JSON.stringify({ timeout: STATEMENT_TIMEOUT_S, database, schema, warehouse, ...body }),
    timeoutMs: TIMEOUT_MS,
  }
}

/** The same rows have the same request id, so a repeat after a lost answer is recognised and not executed again. */
function merge(batch: readonly DeliveryRecord[], options: SnowflakeSettings, context: DestinationContext): OutgoingRequest {
  const known = context.prepared instanceof Map ? (context.prepared as TableColumns) : undefined
  const columns = (Object.keys(WAREHOUSE_COLUMNS) as WarehouseColumn[]).filter((column) => known === undefined || known.has(column))
  const rows = JSON.stringify(batch.flatMap((record) => warehouseRows(record, context).map(fitIds)))
  const id = uuidFromId(`${context.destinationId} ${rows}`)
  return statement(
    options,
    context,
    { statement: mergeText(options, columns, known), bindings: { 1: { type: 'TEXT', value: rows } } },
    `?requestId=${id}${context.attempt > 0 ? '&retry=true' : ''}`,
  )
}

/** Callers choose trace ids freely. An id that is too long keeps its beginning, followed by a hash that distinguishes it from others. */
const fitId = (id: string): string => (id.length <= MAX_ID_CHARS ? id : `${id.slice(0, ID_BEGINNING).toWellFormed()}:${otlpTraceId(id)}`)

function fitIds(row: WarehouseRow): WarehouseRow {
  const isId = (column: string): boolean => WAREHOUSE_COLUMNS[column as WarehouseColumn] === 'id'
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, isId(column) && typeof value === 'string' ? fitId(value) : value]))
}

const quoted = (name: string): string => `"${name}"`

/** VARIANT columns need a SELECT: `VALUES` takes no functions. Rows arrive as one bound JSON array. */
function mergeText({ database, schema, table }: SnowflakeSettings, columns: readonly WarehouseColumn[], known: TableColumns | undefined): string {
  const target = (column: WarehouseColumn): string => quoted(known?.get(column) ?? column)
  const selected = columns.map((column) => `${fromJson(column)} AS ${quoted(column)}`).join(', ')
  const names = columns.map(target).join(', ')
  const values = columns.map((column) => `s.${quoted(column)}`).join(', ')
  return [
    `MERGE INTO ${[database, schema, table].map(quoted).join('.')} AS t`,
    `USING (SELECT ${selected} FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?))) AS f) AS s`,
    `ON t.${target('TRACE_ID')} = s."TRACE_ID" AND t.${target('SPAN_ID')} = s."SPAN_ID"`,
    `WHEN NOT MATCHED THEN INSERT (${names}) VALUES (${values})`,
  ].join(' ')
}

function fromJson(column: WarehouseColumn): string {
  const value = `f.value:"${column}"`
  switch (WAREHOUSE_COLUMNS[column]) {
    // Milliseconds, because the format in which texts are read depends on the account.
    case 'time':
      return `TO_TIMESTAMP_NTZ(${value}::NUMBER, 3)`
    case 'count':
      return `${value}::NUMBER`
    case 'number':
      return `${value}::FLOAT`
    case 'json':
    case 'list':
      return value
    case 'id':
    case 'text':
      return `${value}::VARCHAR`
    default:
      return WAREHOUSE_COLUMNS[column] satisfies never
  }
}

// ---- columns ----

const columnsRequest = (options: SnowflakeSettings, context: DestinationContext): OutgoingRequest =>
  // Unlike the information schema, this needs no warehouse.
  statement(options, context, { statement: `SHOW COLUMNS IN TABLE ${[options.database, options.schema, options.table].map(quoted).join('.')}` })

/** Columns of the table; undefined if the answer is not such a list. */
function parseColumns(response: OutgoingResponse): TableColumns | undefined {
  const answer = response.status === 200 ? readObject(response) : undefined
  const fields = asObjects(asObject(answer?.['resultSetMetaData'])?.['rowType'])
  const position = fields.findIndex((field) => typeof field?.['name'] === 'string' && field['name'].toLowerCase() === 'column_name')
  const data = answer?.['data']
  if (position < 0 || !Array.isArray(data)) return undefined
  return matchColumns(data.flatMap((row: unknown) => (Array.isArray(row) && typeof row[position] === 'string' ? [row[position]] : [])))
}

/** If the user may not list the columns, every documented column is written, and the statement itself reports what is wrong. */
async function readColumns(options: SnowflakeSettings, context: DestinationContext, send: SendRequest): Promise<TableColumns | undefined> {
  const response = await send(columnsRequest(options, context))
  refuseTransient(classify(response), response)
  const columns = parseColumns(response)
  return checkTable(columns) === undefined ? columns : undefined
}

function checkColumns(response: OutgoingResponse): string | undefined {
  const outcome = classify(response)
  return outcome.kind === 'delivered' ? checkTable(parseColumns(response)) : outcome.message
}

// ---- answers ----

/** 202 means still running. The handle comes from the answer and becomes part of a URL, so its format is checked. */
function followUp(response: OutgoingResponse, step: number, options: SnowflakeSettings, context: DestinationContext): FollowUp | undefined {
  if (response.status !== 202) return undefined
  const handle = readObject(response)?.['statementHandle']
  if (typeof handle !== 'string' || !/^[0-9A-Za-z-]{8,64}$/.test(handle)) return undefined
  return {
    request: {
      method: 'GET',
      url: joinUrl(baseUrl(options, context), `${STATEMENTS}/${handle}`),
      headers: requestHeaders(options, context),
    },
    afterMs: POLL_MS[Math.min(step, POLL_MS.length - 1)] ?? 5_000,
  }
}

/**
 * Object or column missing, object not permitted, no such warehouse or database, no credits left for the warehouse, suspended account: the rows are not
 * at fault.
 */
const CONFIGURATION_CODES = new Set(['000606', '000605', '000904', '002003', '002043', '003001', '003030', '000666', '090073', '090105', '090106'])

/**
 * SQLSTATE of a cancelled statement: by a time limit of the warehouse, because too many are waiting for the table, or by a person. The rows are not at
 * fault.
 */
const CANCELED = '57014'
/** SQLSTATE of an internal error: usually an incident of the platform, but a row may be what it fails on, so the tries are limited. */
const INTERNAL = 'XX000'
const INTERNAL_TRIES = 10

function classify(response: OutgoingResponse): DeliveryOutcome {
  const { status } = response
  if (status === 202) return { kind: 'retry', message: 'the statement was still running' }
  const { code: rawCode, sqlState } = readObject(response) ?? {}
  const code = typeof rawCode === 'string' ? rawCode : ''
  const message = `HTTP ${status}: ${excerpt(response.body)}`
  // 390xxx: all problems with the token.
  if (status >= 400 && (CONFIGURATION_CODES.has(code) || /^390\d{3}$/.test(code))) return { kind: 'unauthorized', message }
  if (status === 422 && sqlState === CANCELED) return { kind: 'retry', message }
  if (status === 422 && sqlState === INTERNAL) return { kind: 'retry', message, maxAttempts: INTERNAL_TRIES }
  return classifyHttp(response)
}

import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, DestinationContext, OutgoingRequest, OutgoingResponse, SendRequest } from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { uuidFromId } from '../lib/derived-id.ts'
import { isoTime } from './shared/record-metadata.ts'
import { destinationSettings, HEADER_SECRETS, headerValue, httpUrl, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
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

const settings = destinationSettings({
  host: httpUrl('HTTP interface of the server: https://<host>:8443.'),
  database: identifier('Database of the table.').min(1),
  username: requiredText('User with INSERT on the table and SELECT on system.columns.'),
  password: requiredText('Password of the user.'),
  table: identifier('Table that receives the rows.').default('GATEWAY_TRACES'),
})
type ClickhouseSettings = z.output<typeof settings>

/** ClickHouse over HTTP: one INSERT per batch. The owner creates the table; see the reference of this type. */
export const clickhouse: Destination<ClickhouseSettings> = {
  type: 'clickhouse',
  name: 'ClickHouse',
  settings,
  secrets: ['password', HEADER_SECRETS],
  limits: { records: 1_000, bytes: 5_000_000, lingerMs: 5_000 },
  encode: (batch, options, context) => [insert(batch, options, context)],
  classify,
  answersInBody: true,
  prepare: readColumns,
  probe: (options) => [
    { name: 'log in', request: query(options, { query: 'SELECT 1' }) },
    { name: "read the table's columns", request: columnsRequest(options), check: checkColumns },
  ],
}

function query(options: ClickhouseSettings, parameters: { readonly [name: string]: string }, body?: string): OutgoingRequest {
  const url = new URL(joinUrl(options.host, '/'))
  // Some versions of the server do not decode `+`, so spaces are written as %20.
  url.search = Object.entries({ database: options.database, ...parameters })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  return {
    method: 'POST',
    url: url.href,
    headers: mergeHeaders(options.headers, {
      'content-type': 'application/x-ndjson',
      'x-clickhouse-user': headerValue(options.username),
      'x-clickhouse-key': headerValue(options.password),
    }),
    ...(body === undefined ? {} : { body, compress: 'gzip' as const }),
  }
}

function insert(batch: readonly DeliveryRecord[], options: ClickhouseSettings, context: DestinationContext): OutgoingRequest {
  const columns = context.prepared instanceof Map ? (context.prepared as TableColumns) : undefined
  const body = batch
    .flatMap((record) => warehouseRows(record, context))
    .map((row) => `${JSON.stringify(toLine(row, columns))}\n`)
    .join('')
  return query(
    options,
    {
      query: `INSERT INTO \`${options.table}\` FORMAT JSONEachRow`,
      date_time_input_format: 'best_effort',
      input_format_skip_unknown_fields: '1',
      async_insert: '1',
      // Without this, the answer says nothing about the rows.
      wait_for_async_insert: '1',
      insert_deduplication_token: uuidFromId(`${context.destinationId} ${body}`),
    },
    body,
  )
}

/** JSON columns are text in ClickHouse, to be read with JSONExtract. */
function toLine(row: WarehouseRow, columns: TableColumns | undefined): object {
  const line: { [column: string]: unknown } = {}
  for (const [name, value] of Object.entries(row)) {
    const column = name as WarehouseColumn
    const target = columns === undefined ? column : columns.get(column)
    if (target !== undefined) line[target] = toValue(column, value)
  }
  return line
}

function toValue(column: WarehouseColumn, value: string | number | object): unknown {
  const kind = WAREHOUSE_COLUMNS[column]
  if (kind === 'time' && typeof value === 'number') return isoTime(value)
  return kind === 'json' ? JSON.stringify(value) : value
}

// ---- columns ----

function columnsRequest(options: ClickhouseSettings): OutgoingRequest {
  return query(options, {
    query: 'SELECT name FROM system.columns WHERE database = {database_name:String} AND table = {table_name:String} FORMAT TabSeparated',
    param_database_name: options.database,
    param_table_name: options.table,
  })
}

const parseColumns = (response: OutgoingResponse): TableColumns => matchColumns(response.body.toString('utf8').split('\n'))

/** If the table cannot be read (no rights on system tables) or does not exist yet, the INSERT decides. */
async function readColumns(options: ClickhouseSettings, _context: DestinationContext, send: SendRequest): Promise<TableColumns | undefined> {
  const response = await send(columnsRequest(options))
  const outcome = classify(response)
  refuseTransient(outcome, response)
  const columns = outcome.kind === 'delivered' ? parseColumns(response) : undefined
  return columns === undefined || columns.size === 0 ? undefined : columns
}

function checkColumns(response: OutgoingResponse): string | undefined {
  const outcome = classify(response)
  return outcome.kind === 'delivered' ? checkTable(parseColumns(response)) : outcome.message
}

// ---- answers ----

/**
 * Errors in login, address, database, table, column, grant, or a read-only profile, a table that cannot be written to (a view, or several shards without
 * a key), a server too old for a setting: the same for every row until somebody changes the configuration.
 */
const CONFIGURATION_CODES = new Set([16, 48, 55, 60, 81, 115, 164, 192, 193, 194, 195, 291, 452, 497, 516])
/** Temporary troubles of the server: time, memory, threads, files, disk space, object storage, parts, replicas, Keeper, network. */
const BUSY_CODES = new Set([
  75, 76, 159, 173, 203, 204, 209, 210, 225, 236, 241, 242, 243, 244, 254, 265, 279, 285, 286, 319, 394, 425, 439, 499, 519, 999, 1_000, 1_001, 1_002,
])
/** The server is alive but accepts nothing more for now: limits of queries, the user's quota, or parts. */
const OVERLOAD_CODES = new Set([201, 202, 252, 745])

function exceptionCode({ headers, body }: OutgoingResponse): number | undefined {
  const fromHeader = Number(headers['x-clickhouse-exception-code'])
  if (fromHeader > 0) return fromHeader
  // Errors after the first byte of an answer arrive as text with status 200.
  const code = /^Code: (\d+)\. /.exec(body.toString('utf8', 0, 100))?.[1]
  return code === undefined ? undefined : Number(code)
}

function classify(response: OutgoingResponse): DeliveryOutcome {
  const code = exceptionCode(response)
  if (code === undefined) return classifyHttp(response)
  const message = excerpt(response.body) || `exception ${code}`
  if (CONFIGURATION_CODES.has(code)) return { kind: 'unauthorized', message }
  if (OVERLOAD_CODES.has(code)) return { kind: 'retry', message, overload: true }
  if (BUSY_CODES.has(code)) return { kind: 'retry', message, overload: false }
  // Data that the table does not accept; the server reports it as 400 or as 500.
  return { kind: 'reject', message }
}

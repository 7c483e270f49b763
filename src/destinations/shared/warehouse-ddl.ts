import { WAREHOUSE_COLUMNS, type WarehouseColumn } from './warehouse-row.ts'

type Kind = (typeof WAREHOUSE_COLUMNS)[WarehouseColumn]

/** Columns with a value in every row. */
const REQUIRED = new Set<WarehouseColumn>(['TRACE_ID', 'SPAN_ID', 'ENTITY_ID', 'TIMESTAMP', 'START_TIME', 'SPAN_TYPE', 'STATUS', 'LEVEL'])

const lines = (spell: (column: WarehouseColumn, kind: Kind) => string): string =>
  (Object.entries(WAREHOUSE_COLUMNS) as [WarehouseColumn, Kind][]).map(([column, kind]) => `  ${spell(column, kind)}`).join(',\n')

/** The table that a ClickHouse owner creates. A repeated row replaces the first: at the next merge, or at once in a query with FINAL. */
export function clickhouseTable(table: string): string {
  const types: { readonly [kind in Kind]: string } = {
    id: 'String',
    text: 'String',
    time: 'DateTime64(3)',
    number: 'Float64',
    count: 'UInt64',
    json: 'String',
    list: 'Array(String)',
  }
  const nullable = (column: WarehouseColumn, kind: Kind): boolean => !REQUIRED.has(column) && !['count', 'json', 'list'].includes(kind)
  const columns = lines((column, kind) => `${column} ${nullable(column, kind) ? `Nullable(${types[kind]})` : types[kind]}`)
  return `CREATE TABLE IF NOT EXISTS \`${table}\` (\n${columns}\n) ENGINE = ReplacingMergeTree ORDER BY (ENTITY_ID, TRACE_ID, SPAN_ID)`
}

/** The table that a Snowflake owner creates. */
export function snowflakeTable(table: string): string {
  const types: { readonly [kind in Kind]: string } = {
    id: 'VARCHAR(256)',
    text: 'VARCHAR',
    time: 'TIMESTAMP_NTZ',
    number: 'FLOAT',
    count: 'NUMBER(20,0)',
    json: 'VARIANT',
    list: 'VARIANT',
  }
  return `CREATE TABLE IF NOT EXISTS "${table}" (\n${lines((column, kind) => `${column} ${types[kind]}${REQUIRED.has(column) ? ' NOT NULL' : ''}`)}\n)`
}

/** The table that a BigQuery owner creates. */
export function bigqueryTable(dataset: string, table: string): string {
  const types: { readonly [kind in Kind]: string } = {
    id: 'STRING',
    text: 'STRING',
    time: 'TIMESTAMP',
    number: 'FLOAT64',
    count: 'INT64',
    json: 'JSON',
    list: 'ARRAY<STRING>',
  }
  const columns = lines((column, kind) => `${column.toLowerCase()} ${types[kind]}${REQUIRED.has(column) ? ' NOT NULL' : ''}`)
  return `CREATE TABLE IF NOT EXISTS \`${dataset}.${table}\` (\n${columns}\n) PARTITION BY DATE(timestamp) CLUSTER BY entity_id, trace_id`
}

import { createSign } from 'node:crypto'
import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, DestinationContext, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { MAX_KEY_BITS, signingKey } from '../lib/signing-key.ts'
import { asObject, asObjects, readObject } from './shared/read-answer.ts'
import { isoTime } from './shared/record-metadata.ts'
import { destinationSettings, HEADER_SECRETS, joinUrl, mergeHeaders } from './shared/settings.ts'
import { checkTable, identifier, matchColumns, warehouseRows, WAREHOUSE_COLUMNS, type WarehouseColumn } from './shared/warehouse-row.ts'

const DEFAULT_BASE = 'https://bigquery.googleapis.com'
const TOKEN_SECONDS = 3_600

const settings = destinationSettings({
  projectId: z
    .string()
    .regex(/^[a-z][a-z0-9:.-]{2,61}[a-z0-9]$/, 'is no project id')
    .describe('Google Cloud project of the table.'),
  datasetId: identifier('Dataset of the table.').min(1),
  tableId: identifier('Table that receives the rows.').default('gateway_traces'),
  serviceAccountKey: z
    .string()
    .max(20_000)
    .refine((text) => readKey(text) !== undefined, `must be the JSON of a service account key of at most ${MAX_KEY_BITS} bits`)
    .describe('JSON key of a service account with the role BigQuery Data Editor on the table.'),
})
type BigquerySettings = z.output<typeof settings>

interface ServiceAccountKey {
  readonly email: string
  readonly id: string
  readonly pem: string
}

/** BigQuery through streaming inserts, one row per generation. It recognises repeated rows by their insert id for about a minute. */
export const bigquery: Destination<BigquerySettings> = {
  type: 'bigquery',
  name: 'BigQuery',
  settings,
  secrets: ['serviceAccountKey', HEADER_SECRETS],
  limits: { records: 500, bytes: 9_000_000, lingerMs: 5_000 },
  encode: (batch, options, context) => [insertAll(batch, options, context)],
  classify,
  answersInBody: true,
  probe: (options, context) => [
    {
      name: "read the table's columns",
      request: { method: 'GET', url: tableUrl(options, context), headers: requestHeaders(options, context) },
      check: checkColumns,
    },
    {
      name: 'check the permission to insert',
      request: {
        method: 'POST',
        url: `${tableUrl(options, context)}:testIamPermissions`,
        headers: requestHeaders(options, context),
        body: JSON.stringify({ permissions: ['bigquery.tables.updateData'] }),
      },
      check: checkPermission,
    },
  ],
}

function tableUrl({ projectId, datasetId, tableId }: BigquerySettings, { baseUrl }: DestinationContext): string {
  const path = `/bigquery/v2/projects/${encodeURIComponent(projectId)}/datasets/${datasetId}/tables/${tableId}`
  return joinUrl(baseUrl ?? DEFAULT_BASE, path)
}

function insertAll(batch: readonly DeliveryRecord[], options: BigquerySettings, context: DestinationContext): OutgoingRequest {
  const rows = batch.flatMap((record) =>
    warehouseRows(record, context)
      .filter((row) => row.SPAN_TYPE === 'GENERATION')
      .map((row) => ({
        insertId: record.generation.id,
        json: Object.fromEntries(Object.entries(row).map(([column, value]) => [column.toLowerCase(), toValue(column as WarehouseColumn, value)])),
      })),
  )
  return {
    method: 'POST',
    url: `${tableUrl(options, context)}/insertAll`,
    headers: requestHeaders(options, context),
    // Neither an invalid row nor a column that the table lacks may hold back the other rows.
    body: JSON.stringify({ kind: 'bigquery#tableDataInsertAllRequest', skipInvalidRows: true, ignoreUnknownValues: true, rows }),
    compress: 'gzip',
  }
}

/** JSON columns accept a value as JSON text. */
function toValue(column: WarehouseColumn, value: string | number | object): unknown {
  const kind = WAREHOUSE_COLUMNS[column]
  if (kind === 'time' && typeof value === 'number') return isoTime(value)
  return kind === 'json' ? JSON.stringify(value) : value
}

// ---- login ----

function readKey(text: string): ServiceAccountKey | undefined {
  try {
    const { client_email, private_key_id, private_key } = asObject(JSON.parse(text)) ?? {}
    if (typeof client_email !== 'string' || typeof private_key_id !== 'string' || typeof private_key !== 'string') return undefined
    if (signingKey(private_key) === undefined) return undefined
    return { email: client_email, id: private_key_id, pem: private_key }
  } catch {
    return undefined
  }
}

const base64Url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token that the account signs for itself. The API accepts it directly, without a round trip to a token server. */
function bearer(options: BigquerySettings, now: number): string {
  const key = readKey(options.serviceAccountKey)
  if (key === undefined) throw new Error('the service account key cannot be read')
  // One minute in the past, because clocks differ.
  const issuedAt = Math.floor(now / 1_000) - 60
  const claims = { iss: key.email, sub: key.email, aud: `${DEFAULT_BASE}/`, iat: issuedAt, exp: issuedAt + TOKEN_SECONDS }
  const content = `${base64Url({ alg: 'RS256', typ: 'JWT', kid: key.id })}.${base64Url(claims)}`
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key.pem, 'base64url')}`
}

const requestHeaders = (options: BigquerySettings, context: DestinationContext): OutgoingRequest['headers'] =>
  mergeHeaders(options.headers, { 'content-type': 'application/json', authorization: `Bearer ${bearer(options, context.now)}` })

// ---- answers ----

function checkColumns(response: OutgoingResponse): string | undefined {
  const outcome = classify(response)
  if (outcome.kind !== 'delivered') return outcome.message
  const fields = asObjects(asObject(readObject(response)?.['schema'])?.['fields'])
  return checkTable(matchColumns(fields.flatMap((field) => (typeof field?.['name'] === 'string' ? [field['name']] : []))))
}

function checkPermission(response: OutgoingResponse): string | undefined {
  const outcome = classify(response)
  if (outcome.kind !== 'delivered') return outcome.message
  const permissions = readObject(response)?.['permissions']
  return Array.isArray(permissions) && permissions.length > 0 ? undefined : 'the account may not insert rows into the table'
}

const QUOTA_REASONS = new Set(['rateLimitExceeded', 'quotaExceeded', 'backendError', 'internalError'])

function classify(response: OutgoingResponse): DeliveryOutcome {
  const answer = readObject(response)
  if (response.status === 200) return classifyRows(answer)
  const reasons = asObjects(asObject(answer?.['error'])?.['errors']).map((error) => error?.['reason'])
  const message = `HTTP ${response.status}: ${excerpt(response.body)}`
  // Exceeded quotas are reported as "forbidden" as well.
  if (reasons.some((reason) => typeof reason === 'string' && QUOTA_REASONS.has(reason))) return { kind: 'retry', message, overload: true }
  if (response.status === 404) return { kind: 'unauthorized', message }
  return classifyHttp(response)
}

/** Classifies the rows refused inside an accepted request. With `stopped` and `timeout` the row itself is not at fault. */
function classifyRows(answer: { readonly [name: string]: unknown } | undefined): DeliveryOutcome {
  const rejected: { index: number; message: string }[] = []
  const retry: number[] = []
  for (const entry of asObjects(answer?.['insertErrors'])) {
    const index = entry?.['index']
    if (typeof index !== 'number') continue
    const errors = asObjects(entry?.['errors'])
    const fault = errors.find((error) => error?.['reason'] === 'invalid')
    if (fault === undefined) retry.push(index)
    else
      rejected.push({ index, message: `${JSON.stringify(fault['location'] ?? '')}: ${JSON.stringify(fault['message'] ?? 'invalid')}`.slice(0, 300) })
  }
  if (rejected.length === 0 && retry.length === 0) return { kind: 'delivered' }
  return { kind: 'partial', message: `${rejected.length} rows were refused, ${retry.length} are to be sent again`, rejected, retry }
}

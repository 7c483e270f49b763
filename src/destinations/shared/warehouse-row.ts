import { z } from 'zod'
import type { DeliveryRecord } from '../../core/delivery.ts'
import type { DeliveryOutcome, DestinationContext, OutgoingResponse } from '../../core/destination.ts'
import { NotNow } from '../../core/outcome.ts'
import { completionObject, genAiAttributes, hasCost, hasUsage, modelSlug, promptObject } from './gen-ai-attributes.ts'
import { metadataObject, modelParameters } from './record-metadata.ts'
import { traceSteps, type TraceStep } from './trace-steps.ts'

/** Columns of the traces table, in order, and the kind of value of each. Databases have their own names for the kinds. */
export const WAREHOUSE_COLUMNS = {
  TRACE_ID: 'id',
  SPAN_ID: 'id',
  PARENT_SPAN_ID: 'id',
  USER_ID: 'text',
  SESSION_ID: 'text',
  ORGANIZATION_ID: 'text',
  ENTITY_ID: 'text',
  API_KEY_NAME: 'text',
  TIMESTAMP: 'time',
  START_TIME: 'time',
  END_TIME: 'time',
  DURATION_MS: 'number',
  MODEL: 'text',
  PROVIDER_NAME: 'text',
  PROVIDER_SLUG: 'text',
  SPAN_NAME: 'text',
  SPAN_TYPE: 'text',
  STATUS: 'text',
  LEVEL: 'text',
  FINISH_REASON: 'text',
  PROMPT_TOKENS: 'count',
  COMPLETION_TOKENS: 'count',
  TOTAL_TOKENS: 'count',
  CACHED_TOKENS: 'count',
  REASONING_TOKENS: 'count',
  INPUT_COST: 'number',
  OUTPUT_COST: 'number',
  TOTAL_COST: 'number',
  INPUT: 'json',
  OUTPUT: 'json',
  METADATA: 'json',
  MODEL_PARAMETERS: 'json',
  ATTRIBUTES: 'json',
  RESOURCE_ATTRIBUTES: 'json',
  TAGS: 'list',
} as const

export type WarehouseColumn = keyof typeof WAREHOUSE_COLUMNS
/** The columns of a table, by our names: tables made by hand lack some and have others in lower case. */
export type TableColumns = ReadonlyMap<WarehouseColumn, string>

/** Finds our columns in a table. */
export function matchColumns(names: readonly string[]): TableColumns {
  const found = new Map<WarehouseColumn, string>()
  for (const column of Object.keys(WAREHOUSE_COLUMNS) as WarehouseColumn[]) {
    const name = names.includes(column) ? column : names.find((each) => each.toUpperCase() === column)
    if (name !== undefined) found.set(column, name)
  }
  return found
}

/** What is wrong with a table, as a sentence, or undefined. */
export function checkTable(columns: TableColumns | undefined): string | undefined {
  if (columns === undefined || columns.size === 0) return 'the table does not exist, has none of the expected columns, or is hidden from this user'
  return columns.has('TRACE_ID') && columns.has('SPAN_ID') ? undefined : 'the table lacks TRACE_ID or SPAN_ID'
}

/** Throws if looking up the columns failed for the moment: that says nothing about the table, and is repeated with the next try. */
export function refuseTransient(outcome: DeliveryOutcome, response: OutgoingResponse): void {
  if (outcome.kind === 'retry') throw new NotNow("the table's columns could not be read", response, outcome)
}

/** Times are milliseconds since the epoch, `json` columns hold the values themselves; unknown values are absent. */
export type WarehouseRow = { readonly [Column in WarehouseColumn]?: string | number | object }

/** Rows of one generation: its own and, if the caller named one, that of the span around it. Attempts and tools are in ATTRIBUTES. */
export function warehouseRows(record: DeliveryRecord, context: DestinationContext): readonly WarehouseRow[] {
  return traceSteps(record)
    .filter((step) => step.child === undefined)
    .map((step) => toRow(record, step, context))
}

function toRow(record: DeliveryRecord, step: TraceStep, context: DestinationContext): WarehouseRow {
  const { generation, ids } = record
  const row = {
    // The raw ids, as in the API, not their hashes.
    TRACE_ID: ids.trace,
    SPAN_ID: step.id,
    PARENT_SPAN_ID: step.parentId,
    USER_ID: generation.externalUser,
    SESSION_ID: generation.sessionId,
    ORGANIZATION_ID: generation.workspaceId,
    ENTITY_ID: generation.workspaceId,
    API_KEY_NAME: generation.keyName,
    TIMESTAMP: step.startedAt,
    START_TIME: step.startedAt,
    // Whole milliseconds, as in the columns; DURATION_MS has the fraction.
    END_TIME: Math.trunc(step.endedAt),
    DURATION_MS: step.endedAt - step.startedAt,
    SPAN_NAME: step.name,
    SPAN_TYPE: step.kind === 'generation' ? 'GENERATION' : 'SPAN',
    STATUS: step.error === undefined ? 'ok' : 'error',
    LEVEL: step.error === undefined ? 'DEFAULT' : 'ERROR',
    INPUT: promptObject(record),
    OUTPUT: completionObject(record),
    METADATA: toMetadata(record),
    RESOURCE_ATTRIBUTES: { 'service.name': context.serviceName, 'service.version': context.serviceVersion, 'gateway.trace.id': generation.id },
    TAGS: record.tags,
    ...(step.kind === 'generation' ? generationColumns(record) : {}),
  }
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
}

function generationColumns(record: DeliveryRecord): WarehouseRow {
  const { generation } = record
  const { usage, cost } = generation
  return {
    MODEL: modelSlug(record),
    ...(generation.providerName === undefined ? {} : { PROVIDER_NAME: generation.providerName }),
    ...(generation.provider === undefined ? {} : { PROVIDER_SLUG: generation.provider }),
    ...(generation.finishReason === undefined ? {} : { FINISH_REASON: generation.finishReason }),
    ...(hasUsage(record)
      ? {
          PROMPT_TOKENS: usage.inputTokens,
          COMPLETION_TOKENS: usage.outputTokens,
          TOTAL_TOKENS: usage.totalTokens,
          CACHED_TOKENS: usage.cachedTokens,
          REASONING_TOKENS: usage.reasoningTokens,
        }
      : {}),
    ...(hasCost(record) ? { INPUT_COST: cost.input, OUTPUT_COST: cost.output, TOTAL_COST: cost.total } : {}),
    MODEL_PARAMETERS: modelParameters(record) ?? {},
    ATTRIBUTES: toAttributes(record),
  }
}

function toMetadata(record: DeliveryRecord): object {
  const { names, ids } = record
  return {
    ...metadataObject(record),
    // The complete id, whatever a column for ids may hold.
    ...(ids.trace === ids.generation ? {} : { trace_id: ids.trace }),
    trace_name: names.trace,
    generation_name: names.generation,
    ...(names.wrapper === undefined ? {} : { span_name: names.wrapper }),
  }
}

/** The attributes of the span under OpenTelemetry's names, without prompt, answer and metadata, which have columns of their own. */
function toAttributes(record: DeliveryRecord): object {
  const attributes = genAiAttributes(record, { withContent: false })
    .list()
    .filter(({ key }) => !/^(?:trace|span)\.metadata\./.test(key))
  return {
    ...Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
    ...(record.failure === undefined ? {} : { 'error.message': record.failure.message }),
    ...(record.children.length === 0
      ? {}
      : {
          steps: record.children.map(({ kind, name, startedAt, endedAt, ok, message, input, output, attributes: details }) => ({
            kind,
            name,
            start_ms: startedAt - record.generation.startedAt,
            duration_ms: endedAt - startedAt,
            ok,
            ...(message === undefined ? {} : { message }),
            ...(input === undefined ? {} : { input }),
            ...(output === undefined ? {} : { output }),
            attributes: details,
          })),
        }),
  }
}

/** The name of a database object, which becomes part of a statement; only harmless characters are accepted. */
export const identifier = (describe: string): z.ZodString =>
  z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9_]+$/, 'may hold only letters, digits and _')
    .describe(describe)

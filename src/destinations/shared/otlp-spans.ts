import type { ChildSpan, DeliveryRecord } from '../../core/delivery.ts'
import type { DestinationContext } from '../../core/destination.ts'
import { unixNanos } from '../../lib/derived-id.ts'
import { createAttributes, type Attribute, type AttributeSet } from './attributes.ts'
import { genAiAttributes, traceAttributes } from './gen-ai-attributes.ts'

/** Spans of OpenTelemetry's data model, before JSON or protobuf. */
export interface OtlpSpan {
  /** 32 and 16 lower-case hex digits. */
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: SpanKind
  /** Unix nanoseconds, decimal. */
  readonly start: string
  readonly end: string
  readonly attributes: readonly Attribute[]
  readonly events: readonly { readonly time: string; readonly name: string; readonly attributes: readonly Attribute[] }[]
  /** 1 is OK, 2 is an error. */
  readonly status: { readonly code: 0 | 1 | 2; readonly message?: string }
}

/** 1 internal, 3 client. */
export type SpanKind = 1 | 3

export interface OtlpGroup {
  readonly resource: readonly Attribute[]
  readonly scope: { readonly name: string; readonly version: string }
  readonly spans: readonly OtlpSpan[]
}

export interface OtlpOptions {
  /** Attributes of the generation's own span. Default: the GenAI table. */
  readonly generation?: (record: DeliveryRecord) => AttributeSet
  /** Attributes of the span around it, where the caller named one. Default: names, user, session, metadata. */
  readonly wrapper?: (record: DeliveryRecord) => AttributeSet
  /** Changes to the attributes of attempts and tools. */
  readonly child?: (child: ChildSpan, set: AttributeSet, record: DeliveryRecord) => void
  /** More attributes of the resource. */
  readonly resource?: (record: DeliveryRecord, set: AttributeSet) => void
  /** Attributes every resource has, that of the connection test too: platforms refuse spans without their project's name. */
  readonly project?: (set: AttributeSet) => void
  /** Longer values are cut and flagged. */
  readonly maxChars?: number
}

/** One resource per generation (it names the generation), holding the spans of its trace: parents before children. */
export function toOtlpGroups(batch: readonly DeliveryRecord[], context: DestinationContext, options: OtlpOptions = {}): readonly OtlpGroup[] {
  return batch.map((record) => {
    const resource = createAttributes(options.maxChars)
      .string('service.name', context.serviceName)
      .string('service.version', context.serviceVersion)
      .string('gateway.trace.id', record.generation.id)
    options.project?.(resource)
    options.resource?.(record, resource)
    return { resource: resource.list(), scope: scopeOf(context), spans: recordSpans(record, options) }
  })
}

const scopeOf = (context: DestinationContext): OtlpGroup['scope'] => ({ name: context.serviceName, version: context.serviceVersion })

function recordSpans(record: DeliveryRecord, options: OtlpOptions): readonly OtlpSpan[] {
  const { traceId, generationSpanId, wrapperSpanId, parentSpanId } = record.ids.otlp
  const spans: OtlpSpan[] = []
  const times = spanTimes(record.generation.startedAt, record.generation.endedAt)
  const status = statusOf(record)
  const top = parentSpanId === undefined ? {} : { parentSpanId }
  const limit = options.maxChars === undefined ? {} : { maxChars: options.maxChars }
  if (wrapperSpanId !== undefined && record.names.wrapper !== undefined) {
    const attributes = (options.wrapper?.(record) ?? traceAttributes(record, limit)).list()
    spans.push({ traceId, spanId: wrapperSpanId, ...top, name: record.names.wrapper, kind: 1, ...times, attributes, events: [], status })
  }
  const parent = wrapperSpanId === undefined ? top : { parentSpanId: wrapperSpanId }
  const attributes = (options.generation?.(record) ?? genAiAttributes(record, limit)).list()
  spans.push({
    traceId,
    spanId: generationSpanId,
    ...parent,
    name: record.names.generation,
    kind: 3,
    ...times,
    attributes,
    events: exceptionEvents(record),
    status,
  })
  for (const child of record.children) spans.push(childSpan(child, record, options))
  return spans
}

/** Clocks may step back between two readings; a span may not end before it starts. */
function spanTimes(startMs: number, endMs: number): { readonly start: string; readonly end: string } {
  return { start: unixNanos(startMs), end: unixNanos(Math.max(startMs, endMs)) }
}

function statusOf(record: DeliveryRecord): OtlpSpan['status'] {
  return record.failure === undefined ? { code: 1 } : { code: 2, message: record.failure.message }
}

function exceptionEvents({ failure, generation }: DeliveryRecord): OtlpSpan['events'] {
  if (failure === undefined) return []
  const attributes = createAttributes().string('exception.type', failure.type).string('exception.message', failure.message).list()
  return [{ time: unixNanos(generation.endedAt), name: 'exception', attributes }]
}

function childSpan(child: ChildSpan, record: DeliveryRecord, options: OtlpOptions): OtlpSpan {
  const set = createAttributes(options.maxChars)
    .string('span.type', child.kind)
    .string('span.level', child.ok ? 'DEFAULT' : 'ERROR')
  for (const [key, value] of Object.entries(child.attributes)) set.any(key, value)
  set.string('span.input', child.input).string('span.output', child.output)
  options.child?.(child, set, record)
  return {
    traceId: record.ids.otlp.traceId,
    spanId: child.otlpSpanId,
    parentSpanId: record.ids.otlp.generationSpanId,
    name: child.name,
    kind: child.kind === 'attempt' ? 3 : 1,
    ...spanTimes(child.startedAt, child.endedAt),
    attributes: set.list(),
    events: [],
    status: child.ok ? { code: 1 } : { code: 2, ...(child.message === undefined ? {} : { message: child.message }) },
  }
}

/** One span that says nothing but that it arrived: the connection test. */
export function connectionTestGroup(context: DestinationContext, { project }: Pick<OtlpOptions, 'project'> = {}): OtlpGroup {
  const resource = createAttributes().string('service.name', context.serviceName).string('service.version', context.serviceVersion)
  project?.(resource)
  const time = unixNanos(context.now)
  const span: OtlpSpan = {
    traceId: '1'.padStart(32, '0'),
    spanId: '1'.padStart(16, '0'),
    name: 'gateway-connection-test',
    kind: 1,
    start: time,
    end: time,
    attributes: [],
    events: [],
    status: { code: 1 },
  }
  return { resource: resource.list(), scope: scopeOf(context), spans: [span] }
}

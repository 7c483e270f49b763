import type { ChildSpan, DeliveryFailure, DeliveryRecord } from '../../core/delivery.ts'
import type { DestinationContext } from '../../core/destination.ts'
import { otlpSpanId, unixNanos } from '../../lib/derived-id.ts'
import { createAttributes, cutText, type Attribute, type AttributeLimits, type AttributeSet } from './attributes.ts'
import { genAiAttributes, traceAttributes } from './gen-ai-attributes.ts'
import { childFailure, joinsGeneration } from './trace-steps.ts'

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

/** The limits hold for attributes of spans, events and resources, for names of spans and for messages of a status. */
export interface OtlpOptions extends AttributeLimits {
  /** Attributes of the generation's own span. Default: the GenAI table. */
  readonly generation?: (record: DeliveryRecord) => Pick<AttributeSet, 'list'>
  /** Attributes of the span around it, if the caller named one. Default: names, user, session, metadata. */
  readonly wrapper?: (record: DeliveryRecord) => Pick<AttributeSet, 'list'>
  /** Changes to the attributes of attempts and tools. */
  readonly child?: (child: ChildSpan, set: AttributeSet, record: DeliveryRecord) => void
  /** More attributes of the resource. */
  readonly resource?: (record: DeliveryRecord, set: AttributeSet) => void
  /** Attributes of every resource, also in the connection test, because platforms refuse spans without their project's name. */
  readonly project?: (set: AttributeSet) => void
  /** Errors are told in an event on every failed span, for platforms that do not read the status. Default: only on the generation's own span. */
  readonly eventOfEveryFailure?: boolean
  /** The caller's own span stands above all of ours, for platforms that lose spans below one they do not know. Default: as the caller named it. */
  readonly parent?: (record: DeliveryRecord) => string | undefined
  /**
   * Attributes of a root for traces that the caller named without a span of its own, for platforms where a trace has one root. Default: every top
   * span is a root.
   */
  readonly root?: (record: DeliveryRecord) => Pick<AttributeSet, 'list'>
}

/** One resource per generation (it names the generation), with the spans of its trace: parents before children. */
export function toOtlpGroups(batch: readonly DeliveryRecord[], context: DestinationContext, options: OtlpOptions = {}): readonly OtlpGroup[] {
  const roots = traceRoots(batch, options)
  return batch.map((record) => {
    const resource = createAttributes(options)
      .string('service.name', context.serviceName)
      .string('service.version', context.serviceVersion)
      .string('gateway.trace.id', record.generation.id)
    options.project?.(resource)
    options.resource?.(record, resource)
    const root = roots.get(record)
    return { resource: resource.list(), scope: scopeOf(context), spans: [...(root === undefined ? [] : [root]), ...recordSpans(record, options)] }
  })
}

const scopeOf = (context: DestinationContext): OtlpGroup['scope'] => ({ name: context.serviceName, version: context.serviceVersion })

const parentOf = (record: DeliveryRecord, { parent }: OtlpOptions): string | undefined =>
  parent === undefined ? record.ids.otlp.parentSpanId : parent(record)

/** The parent of a generation's topmost span: the caller's span, the generation whose trace it joins, or the root of the trace it named. */
function aboveTop(record: DeliveryRecord, options: OtlpOptions): string | undefined {
  const parent = parentOf(record, options)
  const { trace, generation } = record.ids
  if (parent !== undefined || options.root === undefined || trace === generation) return parent
  return joinsGeneration(record) ? otlpSpanId(trace) : rootSpanId(record)
}

/** The id of the trace's root, however the caller writes the trace id. */
const rootSpanId = ({ ids }: DeliveryRecord): string => otlpSpanId(ids.otlp.traceId)

/** Roots of the traces of a batch, by the record before which each is sent. Among several generations the one that began last decides. */
function traceRoots(batch: readonly DeliveryRecord[], options: OtlpOptions): ReadonlyMap<DeliveryRecord, OtlpSpan> {
  const { root } = options
  const roots = new Map<DeliveryRecord, OtlpSpan>()
  if (root === undefined) return roots
  const rootless = batch.filter((record) => aboveTop(record, options) === rootSpanId(record))
  for (const group of Map.groupBy(rootless, ({ ids }) => ids.otlp.traceId).values()) {
    const [first, ...others] = group
    if (first === undefined) continue
    const last = others.reduce((a, b) => (b.generation.startedAt >= a.generation.startedAt ? b : a), first)
    roots.set(first, {
      traceId: last.ids.otlp.traceId,
      spanId: rootSpanId(last),
      name: capped(last.names.trace, options),
      kind: 1,
      ...spanTimes(Math.min(...group.map((each) => each.generation.startedAt)), Math.max(...group.map((each) => each.generation.endedAt))),
      attributes: root(last).list(),
      events: options.eventOfEveryFailure ? exceptionEvents(last, options) : [],
      status: statusOf(last.failure === undefined, last.failure?.message, options),
    })
  }
  return roots
}

function recordSpans(record: DeliveryRecord, options: OtlpOptions): readonly OtlpSpan[] {
  const { traceId, generationSpanId, wrapperSpanId } = record.ids.otlp
  const parentSpanId = aboveTop(record, options)
  const spans: OtlpSpan[] = []
  const times = spanTimes(record.generation.startedAt, record.generation.endedAt)
  const status = statusOf(record.failure === undefined, record.failure?.message, options)
  const top = parentSpanId === undefined ? {} : { parentSpanId }
  if (wrapperSpanId !== undefined && record.names.wrapper !== undefined) {
    const attributes = (options.wrapper?.(record) ?? traceAttributes(record, options)).list()
    const name = capped(record.names.wrapper, options)
    const events = options.eventOfEveryFailure ? exceptionEvents(record, options) : []
    spans.push({ traceId, spanId: wrapperSpanId, ...top, name, kind: 1, ...times, attributes, events, status })
  }
  const parent = wrapperSpanId === undefined ? top : { parentSpanId: wrapperSpanId }
  const attributes = (options.generation?.(record) ?? genAiAttributes(record, options)).list()
  spans.push({
    traceId,
    spanId: generationSpanId,
    ...parent,
    name: capped(record.names.generation, options),
    kind: 3,
    ...times,
    attributes,
    events: exceptionEvents(record, options),
    status,
  })
  for (const child of record.children) spans.push(childSpan(child, record, options))
  return spans
}

/** Clocks may step back between two readings, but a span must not end before it starts. */
function spanTimes(startMs: number, endMs: number): { readonly start: string; readonly end: string } {
  return { start: unixNanos(startMs), end: unixNanos(Math.max(startMs, endMs)) }
}

const capped = (text: string, { maxChars = Infinity }: AttributeLimits): string => cutText(text, maxChars)

function statusOf(ok: boolean, message: string | undefined, limits: AttributeLimits): OtlpSpan['status'] {
  return ok ? { code: 1 } : { code: 2, ...(message === undefined ? {} : { message: capped(message, limits) }) }
}

const exceptionEvents = ({ failure, generation }: DeliveryRecord, limits: AttributeLimits): OtlpSpan['events'] =>
  failure === undefined ? [] : [exception(failure, generation.endedAt, limits)]

function exception({ type, message }: DeliveryFailure, endedAt: number, limits: AttributeLimits): OtlpSpan['events'][number] {
  const attributes = createAttributes(limits).string('exception.type', type).string('exception.message', message).list()
  return { time: unixNanos(endedAt), name: 'exception', attributes }
}

function childSpan(child: ChildSpan, record: DeliveryRecord, options: OtlpOptions): OtlpSpan {
  const set = createAttributes(options)
    .string('span.type', child.kind)
    .string('span.level', child.ok ? 'DEFAULT' : 'ERROR')
  for (const [key, value] of Object.entries(child.attributes)) set.any(key, value)
  set.string('span.input', child.input).string('span.output', child.output)
  options.child?.(child, set, record)
  return {
    traceId: record.ids.otlp.traceId,
    spanId: child.otlpSpanId,
    parentSpanId: record.ids.otlp.generationSpanId,
    name: capped(child.name, options),
    kind: child.kind === 'attempt' ? 3 : 1,
    ...spanTimes(child.startedAt, child.endedAt),
    attributes: set.list(),
    events: options.eventOfEveryFailure && !child.ok ? [exception(childFailure(child), child.endedAt, options)] : [],
    status: statusOf(child.ok, child.message, options),
  }
}

/** One span that says only that it arrived: the connection test. */
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

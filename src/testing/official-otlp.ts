import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js'

/**
 * The messages of opentelemetry-proto as its own project compiled them: an independent judge of what we call OTLP. Taken by
 * path, because the package itself offers only its exporters.
 */
interface OfficialMessage {
  readonly [field: string]: unknown
}
interface OfficialType {
  decode(bytes: Uint8Array): OfficialMessage
  fromObject(object: object): OfficialMessage
  /** Why a plain object is no such message; null when it is one. */
  verify(object: object): string | null
  toObject(message: OfficialMessage, options: object): object
}
interface OfficialRoot {
  readonly opentelemetry: {
    readonly proto: { readonly collector: { readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: OfficialType } } } }
  }
}
// Its own types are those of named exports, which a module of this age does not have.
const { ExportTraceServiceRequest } = (root as unknown as OfficialRoot).opentelemetry.proto.collector.trace.v1

/** Fields OTLP/JSON writes as hex, against the JSON mapping of protocol buffers. */
const HEX_FIELDS = new Set(['traceId', 'spanId', 'parentSpanId'])

function mapValues(value: unknown, change: (key: string, value: unknown) => unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => mapValues(element, change, key))
  const changed = change(key, value)
  if (changed !== value || typeof value !== 'object' || value === null) return changed
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapValues(field, change, name)]))
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array

/** What the official definitions understand of an OTLP/JSON body, as OTLP/JSON. What they do not know is missing; a wrong type throws. */
export function readOfficialJson(body: string): unknown {
  const object = mapValues(JSON.parse(body), (key, value) => (HEX_FIELDS.has(key) && typeof value === 'string' ? Buffer.from(value, 'hex') : value))
  const message = ExportTraceServiceRequest.fromObject(object as object)
  const problem = ExportTraceServiceRequest.verify(message)
  if (problem !== null) throw new Error(problem)
  return toJson(message)
}

/** What the official definitions understand of an OTLP protobuf body, as OTLP/JSON. */
export function readOfficialProtobuf(body: Buffer): unknown {
  return toJson(ExportTraceServiceRequest.decode(body))
}

function toJson(message: OfficialMessage): unknown {
  const object = ExportTraceServiceRequest.toObject(message, { longs: String, enums: Number })
  return mapValues(object, (_key, value) => (isBytes(value) ? Buffer.from(value).toString('hex') : value))
}

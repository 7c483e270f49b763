import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js'

/**
 * The messages of opentelemetry-proto as compiled by its own project: an independent check of what we send as OTLP. Imported by path, because the package
 * itself only exports its exporters.
 */
interface OfficialMessage {
  readonly [field: string]: unknown
}
interface OfficialType {
  decode(bytes: Uint8Array): OfficialMessage
  fromObject(object: object): OfficialMessage
  /** Why a plain object is not such a message; null if it is one. */
  verify(object: object): string | null
  toObject(message: OfficialMessage, options: object): object
}
interface OfficialRoot {
  readonly opentelemetry: {
    readonly proto: { readonly collector: { readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: OfficialType } } } }
  }
}
// The package's types describe named exports, which a CommonJS module of this form does not have.
const { ExportTraceServiceRequest } = (root as unknown as OfficialRoot).opentelemetry.proto.collector.trace.v1

/** Fields that OTLP/JSON writes as hex, contrary to the JSON mapping of protocol buffers. */
const HEX_FIELDS = new Set(['traceId', 'spanId', 'parentSpanId'])

function mapValues(value: unknown, change: (key: string, value: unknown) => unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => mapValues(element, change, key))
  const changed = change(key, value)
  if (changed !== value || typeof value !== 'object' || value === null) return changed
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapValues(field, change, name)]))
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array

/** An OTLP/JSON body as the official definitions parse it, as OTLP/JSON. Unknown fields are missing; a wrong type throws. */
export function readOfficialJson(body: string): unknown {
  const object = mapValues(JSON.parse(body), (key, value) => (HEX_FIELDS.has(key) && typeof value === 'string' ? Buffer.from(value, 'hex') : value))
  const message = ExportTraceServiceRequest.fromObject(object as object)
  const problem = ExportTraceServiceRequest.verify(message)
  if (problem !== null) throw new Error(problem)
  return toJson(message)
}

/** An OTLP protobuf body as the official definitions parse it, as OTLP/JSON. */
export function readOfficialProtobuf(body: Buffer): unknown {
  return toJson(ExportTraceServiceRequest.decode(body))
}

function toJson(message: OfficialMessage): unknown {
  const object = ExportTraceServiceRequest.toObject(message, { longs: String, enums: Number })
  return mapValues(object, (_key, value) => (isBytes(value) ? Buffer.from(value).toString('hex') : value))
}

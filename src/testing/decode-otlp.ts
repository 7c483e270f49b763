/**
 * Decodes OTLP protobuf to its JSON form, with the published field numbers and independently of our encoder: it makes golden files of binary bodies
 * readable, and reveals wrong tags.
 */
type Kind = 'string' | 'bool' | 'int64' | 'double' | 'enum' | 'fixed64' | 'hex' | Schema
interface Field {
  readonly name: string
  readonly kind: Kind
  readonly repeated?: boolean
}
interface Schema {
  readonly [number: number]: Field
}

const anyValue: { [number: number]: Field } = {
  1: { name: 'stringValue', kind: 'string' },
  2: { name: 'boolValue', kind: 'bool' },
  3: { name: 'intValue', kind: 'int64' },
  4: { name: 'doubleValue', kind: 'double' },
}
anyValue[5] = { name: 'arrayValue', kind: { 1: { name: 'values', kind: anyValue, repeated: true } } }
const keyValue: Schema = { 1: { name: 'key', kind: 'string' }, 2: { name: 'value', kind: anyValue } }
const attributes = (name = 'attributes'): Field => ({ name, kind: keyValue, repeated: true })
const event: Schema = { 1: { name: 'timeUnixNano', kind: 'fixed64' }, 2: { name: 'name', kind: 'string' }, 3: attributes() }
const status: Schema = { 2: { name: 'message', kind: 'string' }, 3: { name: 'code', kind: 'enum' } }
const span: Schema = {
  1: { name: 'traceId', kind: 'hex' },
  2: { name: 'spanId', kind: 'hex' },
  4: { name: 'parentSpanId', kind: 'hex' },
  5: { name: 'name', kind: 'string' },
  6: { name: 'kind', kind: 'enum' },
  7: { name: 'startTimeUnixNano', kind: 'fixed64' },
  8: { name: 'endTimeUnixNano', kind: 'fixed64' },
  9: attributes(),
  11: { name: 'events', kind: event, repeated: true },
  15: { name: 'status', kind: status },
}
const request: Schema = {
  1: {
    name: 'resourceSpans',
    repeated: true,
    kind: {
      1: { name: 'resource', kind: { 1: attributes() } },
      2: {
        name: 'scopeSpans',
        repeated: true,
        kind: {
          1: { name: 'scope', kind: { 1: { name: 'name', kind: 'string' }, 2: { name: 'version', kind: 'string' } } },
          2: { name: 'spans', kind: span, repeated: true },
        },
      },
    },
  },
}

/** An `ExportTraceServiceRequest` as OTLP/JSON. Throws on anything that the definitions do not contain. */
export function decodeOtlpRequest(bytes: Buffer): unknown {
  return decode(bytes, request)
}

function decode(bytes: Buffer, schema: Schema): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('varint runs over the end')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const field = schema[tag >>> 3]
    if (field === undefined) throw new Error(`unknown field ${tag >>> 3}`)
    let value: unknown
    if ((tag & 7) === 0) value = scalar(field.kind, varint())
    else if ((tag & 7) === 1) {
      value = field.kind === 'double' ? bytes.readDoubleLE(at) : bytes.readBigUInt64LE(at).toString()
      at += 8
    } else {
      const length = Number(varint())
      const slice = bytes.subarray(at, at + length)
      if (slice.length !== length) throw new Error('field runs over the end')
      at += length
      value = typeof field.kind === 'object' ? decode(slice, field.kind) : slice.toString(field.kind === 'hex' ? 'hex' : 'utf8')
    }
    if (field.repeated) ((out[field.name] ??= []) as unknown[]).push(value)
    else out[field.name] = value
  }
  return out
}

function scalar(kind: Kind, value: bigint): unknown {
  if (kind === 'bool') return value !== 0n
  if (kind === 'int64') return value.toString()
  if (kind === 'enum') return Number(value)
  throw new Error(`a varint where ${JSON.stringify(kind)} was expected`)
}
